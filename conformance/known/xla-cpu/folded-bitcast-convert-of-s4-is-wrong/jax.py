"""a bitcast-convert of a constant s4 to two s2 loses a half

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(-1, jnp.int4)
    bitcast_convert = lax.bitcast_convert_type(constant, jnp.int2)
    return bitcast_convert


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[1]
print(f"JAX answers {got}; right:", "exactly -1")
sys.exit(0 if not (int(got) == 0) and int(got) & 3 in {3} else 1)
