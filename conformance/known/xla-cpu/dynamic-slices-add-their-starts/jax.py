"""a dynamic-slice of a dynamic-slice adds the two starts and clamps the sum

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0, p1):
    dynamic_slice = lax.dynamic_slice(p0, [p1], (2,), allow_negative_indices=False)
    dynamic_slice_1 = lax.dynamic_slice(dynamic_slice, [p1], (1,), allow_negative_indices=False)
    return dynamic_slice_1


arguments = [np.array([5, 4, 0, 5, -2], jnp.int32),
             np.array(2, jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 5")
sys.exit(0 if not (got.tobytes().hex() == "feffffff") and int(got) & 4294967295 in {5} else 1)
