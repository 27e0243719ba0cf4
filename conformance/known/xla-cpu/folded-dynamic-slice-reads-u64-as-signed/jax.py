"""a dynamic-slice of a constant with a u64 start beyond 2^63 begins at 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p4_1):
    constant = np.array([0, 1], jnp.int32).reshape(1, 2)
    constant_2 = np.array(18446744073709551615, jnp.uint64)
    dynamic_slice_1 = lax.dynamic_slice(constant, [p4_1, constant_2], (1, 1), allow_negative_indices=False)
    return dynamic_slice_1


arguments = [np.array(5, jnp.uint64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1")
sys.exit(0 if not (got.tobytes().hex() == "00000000") and int(got) & 4294967295 in {1} else 1)
