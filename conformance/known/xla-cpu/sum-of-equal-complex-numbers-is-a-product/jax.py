"""a sum of n equal complex numbers becomes n times it, and inf + 0i then has NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def reducer_1(p0_2, p1_2):
    add_1 = lax.add(p0_2, p1_2)
    return add_1


def f(p2):
    broadcast_1 = lax.broadcast_in_dim(p2, (2,), ())
    constant_1 = np.array(complex(0, 0), jnp.complex128)
    reduce_1 = lax.reduce(broadcast_1, constant_1, reducer_1, (0,))
    return reduce_1


arguments = [np.array(complex(-inf, 0), jnp.complex128)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part exactly -inf (0xfff0000000000000), imaginary part exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "000000000000f0ff000000000000f8ff") and got == complex(-float('inf'), 0) else 1)
