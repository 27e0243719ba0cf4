"""abs(x) / 2^k becomes a shift, though abs of the least integer is negative

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    abs = lax.abs(p1)
    constant_1 = np.array(2, jnp.int8)
    divide = lax.div(abs, constant_1)
    return divide


arguments = [np.array(-128, jnp.int8)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -64")
sys.exit(0 if not (got.tobytes().hex() == "40") and int(got) & 255 in {192} else 1)
