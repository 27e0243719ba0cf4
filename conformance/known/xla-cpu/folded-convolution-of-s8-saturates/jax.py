"""a convolution of constant integers does not wrap

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant_3 = np.array([0, 15], jnp.int8).reshape(2, 1)
    convolution = lax.conv_general_dilated(constant_3, constant_3, (), [], (), (), lax.ConvDimensionNumbers((0, 1), (0, 1), (1, 0)), feature_group_count=1, batch_group_count=1, preferred_element_type=jnp.int8)
    return convolution


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[3]
print(f"JAX answers {got}; right:", "exactly -31")
sys.exit(0 if not (got.tobytes().hex() == "7f") and int(got) & 255 in {225} else 1)
