"""(-1) ^ (-1) of constant s4 is 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(-1, jnp.int4)
    power = lax.pow(constant, constant)
    return power


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -1")
sys.exit(0 if not (int(got) == 0) and int(got) & 15 in {15} else 1)
