"""popcnt of a constant s2 counts no bits

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(-1, jnp.int2)
    popcnt = lax.population_count(constant)
    return popcnt


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -2")
sys.exit(0 if not (int(got) == 0) and int(got) & 3 in {2} else 1)
