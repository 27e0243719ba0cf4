"""round-nearest-even of a constant f8e3m4 is NaN after the import

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(1, jnp.float8_e3m4)
    round_nearest_even = lax.round(constant, lax.RoundingMethod.TO_NEAREST_EVEN)
    return round_nearest_even


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1 (0x30)")
sys.exit(0 if not (got.tobytes().hex() == "78") and float(got) == 1 else 1)
