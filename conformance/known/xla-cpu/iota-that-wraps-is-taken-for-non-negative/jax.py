"""abs of an iota becomes the iota, though that wraps in a narrow type

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    iota = lax.broadcasted_iota(jnp.int2, (4,), 0)
    abs = lax.abs(iota)
    return abs


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[3]
print(f"JAX answers {got}; right:", "exactly 1")
sys.exit(0 if not (int(got) == -1) and int(got) & 3 in {1} else 1)
