"""a top-k of u2 numbers returns a number that is not there

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    topk = lax.top_k(p0, 1)
    get_tuple_element_1 = topk[0]
    return get_tuple_element_1


arguments = [np.array([1, 0, 0, 1], jnp.uint2).reshape(2, 2)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1")
sys.exit(0 if not (int(got) == 3) and int(got) & 3 in {1} else 1)
