"""a constant unsigned start is negative after the import: 255 of u8 means -1

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant = np.array(255, jnp.uint8)
    dynamic_slice = lax.dynamic_slice(p0, [constant], (1,), allow_negative_indices=False)
    return dynamic_slice


arguments = [np.array([5, 4], jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 4")
sys.exit(0 if not (got.tobytes().hex() == "05000000") and int(got) & 4294967295 in {4} else 1)
