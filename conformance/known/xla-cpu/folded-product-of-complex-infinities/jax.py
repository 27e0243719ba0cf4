"""a product of constant complex numbers with inf and NaN has inf where it is NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(complex(-inf, nan), jnp.complex128)
    multiply = lax.mul(constant, constant)
    return multiply


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part exactly nan (0x7ff8000000000000), imaginary part exactly nan (0x7ff8000000000000)")
sys.exit(0 if not (got.tobytes().hex() == "000000000000f07f000000000000f8ff") and got != got else 1)
