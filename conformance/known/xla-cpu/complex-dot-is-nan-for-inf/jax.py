"""a dot of complex numbers that overflows is NaN, where its parts are inf and -inf

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    dot = lax.dot_general(p1, p1, (((1,), (1,)), ((), ())), preferred_element_type=jnp.complex64)
    return dot


arguments = [np.array([complex(16777216, -1.75), complex(3.4028234663852886e+38, -4), complex(-1.1754942106924411e-38, 0.75), complex(-1.1754942106924411e-38, -3.5)], jnp.complex64).reshape(2, 2)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part inf, imaginary part -inf")
sys.exit(0 if not (got.tobytes().hex() == "0000c0ff0000c0ff") and (float(got.real) == float('inf')) and (float(got.imag) == -float('inf')) else 1)
