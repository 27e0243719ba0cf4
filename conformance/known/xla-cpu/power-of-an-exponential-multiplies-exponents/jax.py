"""exp(x) ^ y becomes exp(x y), though exp(x) vanishes

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0, p1):
    exponential = lax.exp(p0)
    power = lax.pow(exponential, p1)
    return power


arguments = [np.array(-16777216, jnp.float32),
             np.array(1.1754943508222875e-38, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "0000803f") and float(got) == 0 else 1)
