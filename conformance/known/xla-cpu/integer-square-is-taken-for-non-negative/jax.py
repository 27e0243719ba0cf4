"""abs(x x) of integers becomes x x, though the product wraps

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    multiply = lax.mul(p1, p1)
    abs = lax.abs(multiply)
    return abs


arguments = [np.array(14, jnp.int8)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 60")
sys.exit(0 if not (got.tobytes().hex() == "c4") and int(got) & 255 in {60} else 1)
