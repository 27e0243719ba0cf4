"""0 / 0 of converted predicates is 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p2):
    compare = lax.lt(p2, p2)
    concatenate = lax.concatenate([compare, compare], 0)
    convert = lax.convert_element_type(concatenate, jnp.float32)
    divide = lax.div(convert, convert)
    return divide


arguments = [np.array([5, 4], jnp.int32).reshape(1, 2)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -nan (0xffc00000)")
sys.exit(0 if not (got.tobytes().hex() == "00000000") and float(got) != float(got) else 1)
