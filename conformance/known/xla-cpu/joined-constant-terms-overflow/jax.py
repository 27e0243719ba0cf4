"""(x + c) + c becomes x + 2 c, where 2 c overflows: inf becomes NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1_1):
    constant_1 = np.array(-3.4028234663852886e+38, jnp.float32)
    add = lax.add(p1_1, constant_1)
    add_1 = lax.add(constant_1, add)
    return add_1


arguments = [np.array(inf, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly inf (0x7f800000)")
sys.exit(0 if not (got.tobytes().hex() == "0000c0ff") and float(got) == float('inf') else 1)
