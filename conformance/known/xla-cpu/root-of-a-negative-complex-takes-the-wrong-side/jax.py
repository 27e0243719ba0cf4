"""sqrt of a complex number with imaginary part -0 is on the other side of its cut

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    sqrt = lax.sqrt(p0)
    return sqrt


arguments = [np.array(complex(-16777216, -0), jnp.complex64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [-0.0019531254656612873, 0.0019531254656612873] (centre 0 +- 1.39e+42 ulp), imaginary part [-4096.0019531254657, -4095.9980468745343] (centre -4096 +- 4 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "0000000000008045") and (-0.0019531254656612877 <= float(got.real) <= 0.0019531254656612877 or float(got.real) == 0) and (-4096.0019531254666 <= float(got.imag) <= -4095.9980468745339 or float(got.imag) == 0) else 1)
