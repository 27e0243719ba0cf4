"""a reduce-precision of a constant subnormal f16 keeps digits that it was to drop

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(-5.9604644775390625e-08, jnp.float16)
    reduce_precision = lax.reduce_precision(constant, 9, 3)
    return reduce_precision


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -0 (0x8000)")
sys.exit(0 if not (got.tobytes().hex() == "0180") and float(got) == -0 else 1)
