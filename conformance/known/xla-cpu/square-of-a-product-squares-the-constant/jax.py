"""(x c) (x c) becomes (x x) (c c), where x x overflows

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant = np.array(0, jnp.float64)
    multiply = lax.mul(p0, constant)
    multiply_1 = lax.mul(multiply, multiply)
    return multiply_1


arguments = [np.array(-1.7976931348623157e+308, jnp.float64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "000000000000f8ff") and float(got) == 0 else 1)
