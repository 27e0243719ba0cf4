"""reduce-precision of f8e4m3fn has NaN for the largest numbers of the type

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    reduce_precision = lax.reduce_precision(p1, 4, 1)
    return reduce_precision


arguments = [np.array(256, jnp.float8_e4m3fn)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 256 (0x78)")
sys.exit(0 if not (got.tobytes().hex() == "7f") and float(got) == 256 else 1)
