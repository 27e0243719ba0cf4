"""a dynamic-update-slice of an array with a slice of itself reads elements that it has written already

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0, p1):
    slice = lax.slice(p0, (0,), (6,), (1,))
    dynamic_update_slice = lax.dynamic_update_slice(p0, slice, [p1], allow_negative_indices=False)
    reshape = lax.reshape(dynamic_update_slice, (7, 1))
    return reshape


arguments = [np.array([5, 4, 0, 5, -2, -4, 5], jnp.int32),
             np.array(2, jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[2]
print(f"JAX answers {got}; right:", "exactly 4")
sys.exit(0 if not (got.tobytes().hex() == "05000000") and int(got) & 4294967295 in {4} else 1)
