"""a complex constant of which one part is NaN is NaN in both after the import

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(complex(-nan, 0), jnp.complex64)
    return constant


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part exactly -nan (0xffc00000), imaginary part exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "0000c0ff0000c0ff") and got != got else 1)
