"""a convolution with batch groups multiplies elements of different groups with 0: -inf anywhere makes NaN everywhere

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p2):
    convolution = lax.conv_general_dilated(p2, p2, (1, 1), [(0, 0), (0, 0)], (1, 1), (1, 1), lax.ConvDimensionNumbers((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)), feature_group_count=1, batch_group_count=2, preferred_element_type=jnp.float32)
    return convolution


arguments = [np.array([0, 0, -inf, 0], jnp.float32).reshape(4, 1, 1, 1)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "0000c0ff") and float(got) == 0 else 1)
