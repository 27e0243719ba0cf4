"""x ^ -1 of integers becomes 1 / x, which for 0 is -1

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant = np.array(-1, jnp.int32)
    power = lax.pow(p0, constant)
    return power


arguments = [np.array(0, jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0")
sys.exit(0 if not (got.tobytes().hex() == "ffffffff") and int(got) & 4294967295 in {0} else 1)
