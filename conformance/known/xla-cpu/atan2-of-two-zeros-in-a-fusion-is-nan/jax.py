"""atan2(0, 0) is NaN in an array of two elements and more

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    iota = lax.broadcasted_iota(jnp.float32, (2, 2), 0)
    atan2 = lax.atan2(iota, iota)
    return atan2


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0 (0x0)")
sys.exit(0 if not (got.tobytes().hex() == "0000c07f") and float(got) == 0 else 1)
