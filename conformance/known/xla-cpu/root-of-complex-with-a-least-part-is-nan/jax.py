"""sqrt of complex numbers with a part near the least normal number is NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(1.1754942106924411e-38, jnp.float32)
    broadcast = lax.broadcast_in_dim(constant, (1016,), ())
    iota = lax.broadcasted_iota(jnp.float32, (1016,), 0)
    complex_ = lax.complex(broadcast, iota)
    sqrt = lax.sqrt(complex_)
    return sqrt


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [-1.401758952619461e-19, 2.9350522779114232e-19] (centre 7.6664666264598099e-20 +- 3.36e+07 ulp), imaginary part [-2.1684056152654421e-19, 2.1684056152654421e-19] (centre 0 +- 1.55e+26 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "0000c07f0000c07f") and (-1.4017589526194612e-19 <= float(got.real) <= 2.9350522779114237e-19 or float(got.real) == 0) and (-2.1684056152654426e-19 <= float(got.imag) <= 2.1684056152654426e-19 or float(got.imag) == 0) else 1)
