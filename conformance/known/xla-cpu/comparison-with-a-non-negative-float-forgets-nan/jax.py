"""0 <= max(x, 0) becomes true, though x may be NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant_1 = np.array(0, jnp.float32)
    maximum = lax.max(p0, constant_1)
    compare = lax.le(constant_1, maximum)
    return compare


arguments = [np.array(nan, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly false")
sys.exit(0 if not (got.tobytes().hex() == "01") and int.from_bytes(got.tobytes(), 'little') & 1 in {0} else 1)
