"""x / broadcast(y) becomes x broadcast(1 / y), where 1 / y overflows: x / x is inf

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    broadcast = lax.broadcast_in_dim(p0, (2,), ())
    minimum = lax.min(broadcast, broadcast)
    divide = lax.div(minimum, minimum)
    return divide


arguments = [np.array(-5.9604644775390625e-08, jnp.float16)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1 (0x3c00)")
sys.exit(0 if not (got.tobytes().hex() == "007c") and float(got) == 1 else 1)
