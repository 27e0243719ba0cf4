"""exponential of an array that holds a constant NaN returns what lay in memory

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    constant_3 = np.array(nan, jnp.float32)
    clamp = lax.clamp(constant_3, constant_3, p1)
    exponential = lax.exp(clamp)
    return exponential


arguments = [np.array(1.25, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly nan (0x7fc00000)")
sys.exit(0 if not (got.tobytes().hex() == "fbfbfbfb") and float(got) != float(got) else 1)
