"""a logical right shift of constant s2 numbers extends the sign

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant = np.array([0, -1], jnp.int2)
    shift_right_logical_1 = lax.shift_right_logical(constant, p0)
    return shift_right_logical_1


arguments = [np.array([0, 1], jnp.int2)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[1]
print(f"JAX answers {got}; right:", "exactly 1")
sys.exit(0 if not (int(got) == -1) and int(got) & 3 in {1} else 1)
