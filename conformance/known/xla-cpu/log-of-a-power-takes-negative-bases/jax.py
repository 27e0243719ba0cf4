"""log(x ^ y) becomes y log(x), which for negative x is NaN, or the other way round

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    power = lax.pow(p1, p1)
    log = lax.log(power)
    return log


arguments = [np.array(-1, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "NaN")
sys.exit(0 if not (got.tobytes().hex() == "00000080") and (float(got) != float(got)) else 1)
