"""a product of a complex vector and a matrix is NaN, where it is a number

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0, p1):
    dot = lax.dot_general(p0, p1, (((0,), (1,)), ((), ())), preferred_element_type=jnp.complex64)
    return dot


arguments = [np.array([complex(0, -16777216), complex(-16777216, 3.4028234663852886e+38)], jnp.complex64),
             np.array([complex(1.1754942106924411e-38, 3.5), complex(2.75, 0.5), complex(0.5, 2), complex(16777216, -3.5)], jnp.complex64).reshape(2, 2)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [-1.7014120374288246e+38, -1.701411428956464e+38] (centre -1.7014117331926443e+38 +- 3 ulp), imaginary part inf")
sys.exit(0 if not (got.tobytes().hex() == "0000c0ff0000807f") and (-1.701412037428825e+38 <= float(got.real) <= -1.7014114289564638e+38) and (float(got.imag) == float('inf')) else 1)
