"""sqrt(x x) becomes abs(x), though x x overflows

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    multiply = lax.mul(p0, p0)
    sqrt = lax.sqrt(multiply)
    return sqrt


arguments = [np.array(-3.4028234663852886e+38, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly inf (0x7f800000)")
sys.exit(0 if not (got.tobytes().hex() == "ffff7f7f") and float(got) == float('inf') else 1)
