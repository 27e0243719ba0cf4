"""(x c) d becomes x (c d), where c d overflows: 0 becomes NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant = np.array(4096, jnp.float16)
    multiply = lax.mul(p0, constant)
    multiply_1 = lax.mul(multiply, constant)
    return multiply_1


arguments = [np.array(0, jnp.float16)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "00fe") and float(got) == 0 else 1)
