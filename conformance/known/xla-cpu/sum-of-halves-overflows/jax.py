"""x / 2 + x / 2 becomes (x + x) / 2, which overflows

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant_1 = np.array(2, jnp.float16)
    divide = lax.div(p0, constant_1)
    add = lax.add(divide, divide)
    return add


arguments = [np.array(-65504, jnp.float16)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -65504 (0xfbff)")
sys.exit(0 if not (got.tobytes().hex() == "00fc") and float(got) == -65504 else 1)
