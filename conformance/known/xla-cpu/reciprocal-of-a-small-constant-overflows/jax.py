"""x / c of 8-bit floats becomes x (1 / c), where 1 / c is no number of the type: 0 becomes NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant = np.array(7.62939453125e-06, jnp.float8_e5m2fnuz)
    divide = lax.div(p0, constant)
    return divide


arguments = [np.array(0, jnp.float8_e5m2fnuz)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "80") and float(got) == 0 else 1)
