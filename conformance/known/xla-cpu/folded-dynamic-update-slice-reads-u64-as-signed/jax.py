"""a dynamic-update-slice of constants with a u64 start beyond 2^63 writes at 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.full((2,), 0, jnp.int32)
    constant_1 = np.array([1], jnp.int32)
    constant_3 = np.array(18446744073709551615, jnp.uint64)
    dynamic_update_slice_1 = lax.dynamic_update_slice(constant, constant_1, [constant_3], allow_negative_indices=False)
    return dynamic_update_slice_1


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0")
sys.exit(0 if not (got.tobytes().hex() == "01000000") and int(got) & 4294967295 in {0} else 1)
