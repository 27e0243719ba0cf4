"""count-leading-zeros of a negative constant is -32

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(-2, jnp.int32)
    count_leading_zeros = lax.clz(constant)
    return count_leading_zeros


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0")
sys.exit(0 if not (got.tobytes().hex() == "e0ffffff") and int(got) & 4294967295 in {0} else 1)
