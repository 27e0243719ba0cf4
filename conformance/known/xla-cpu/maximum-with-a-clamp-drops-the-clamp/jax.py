"""max(x, clamp(x, x, y)) becomes y where y < x

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1, p1_1):
    clamp_1 = lax.clamp(p1, p1, p1_1)
    maximum_1 = lax.max(p1, clamp_1)
    return maximum_1


arguments = [np.array(5, jnp.int32),
             np.array(2, jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 5")
sys.exit(0 if not (got.tobytes().hex() == "02000000") and int(got) & 4294967295 in {5} else 1)
