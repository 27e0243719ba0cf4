"""(x + x) - x of complex numbers becomes x, though x + x overflows

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    add_2 = lax.add(p1, p1)
    subtract_1 = lax.sub(add_2, p1)
    return subtract_1


arguments = [np.array(complex(-1.7976931348623157e+308, 2.75), jnp.complex128)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part exactly -inf (0xfff0000000000000), imaginary part exactly 2.75 (0x4006000000000000)")
sys.exit(0 if not (got.tobytes().hex() == "ffffffffffffefff0000000000000640") and got == complex(-float('inf'), 2.75) else 1)
