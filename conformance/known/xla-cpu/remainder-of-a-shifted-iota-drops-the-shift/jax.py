"""(iota + c) % c becomes iota % c, which has another sign for negative c

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    iota = lax.broadcasted_iota(jnp.int32, (2,), 0)
    constant = np.full((2,), -3, jnp.int32)
    add = lax.add(iota, constant)
    remainder = lax.rem(add, constant)
    return remainder


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[1]
print(f"JAX answers {got}; right:", "exactly -2")
sys.exit(0 if not (got.tobytes().hex() == "01000000") and int(got) & 4294967295 in {4294967294} else 1)
