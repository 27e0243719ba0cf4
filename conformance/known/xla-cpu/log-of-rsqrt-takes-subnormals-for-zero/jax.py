"""log(rsqrt(x)) of a negative subnormal is inf, where rsqrt has NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    rsqrt = lax.rsqrt(p0)
    log = lax.log(rsqrt)
    return log


arguments = [np.array(-1.4012984643248171e-45, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "NaN")
sys.exit(0 if not (got.tobytes().hex() == "0000807f") and (float(got) != float(got)) else 1)
