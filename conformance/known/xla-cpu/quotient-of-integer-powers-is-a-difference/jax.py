"""x ^ y / x ^ y of integers is 0: it becomes a product with x ^ -y

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    power = lax.pow(p0, p0)
    divide = lax.div(power, power)
    return divide


arguments = [np.array(5, jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1")
sys.exit(0 if not (got.tobytes().hex() == "00000000") and int(got) & 4294967295 in {1} else 1)
