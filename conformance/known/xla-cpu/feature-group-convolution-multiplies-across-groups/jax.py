"""a convolution with feature groups multiplies elements of different groups with 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0, p1):
    convolution = lax.conv_general_dilated(p0, p1, (1,), [(0, 0)], (1,), (1,), lax.ConvDimensionNumbers((0, 2, 1), (2, 1, 0), (0, 2, 1)), feature_group_count=17, batch_group_count=1, preferred_element_type=jnp.complex64)
    return convolution


arguments = [np.load(__file__.replace("jax.py", "program.npz"))["in0"].view(jnp.complex64),
             np.load(__file__.replace("jax.py", "program.npz"))["in1"].view(jnp.complex64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[15]
print(f"JAX answers {got}; right:", "real part inf, imaginary part -inf")
sys.exit(0 if not (got.tobytes().hex() == "0000c07f0000c07f") and (float(got.real) == float('inf')) and (float(got.imag) == -float('inf')) else 1)
