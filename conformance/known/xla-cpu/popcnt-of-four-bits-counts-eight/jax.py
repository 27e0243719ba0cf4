"""popcnt of s4 counts the bits of the sign-extended byte

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    popcnt = lax.population_count(p0)
    return popcnt


arguments = [np.array(-1, jnp.int4)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 4")
sys.exit(0 if not (int(got) == -8) and int(got) & 15 in {4} else 1)
