"""(x / c) c becomes x, though x / c vanishes

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant_1 = np.array(16777216, jnp.float32)
    divide = lax.div(p0, constant_1)
    multiply = lax.mul(divide, constant_1)
    return multiply


arguments = [np.array(-1.1754943508222875e-38, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -0 (0x80000000)")
sys.exit(0 if not (got.tobytes().hex() == "00008080") and float(got) == -0 else 1)
