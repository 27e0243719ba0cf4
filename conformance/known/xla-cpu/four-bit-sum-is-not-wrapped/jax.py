"""a sum of s4 or u4 numbers that is converted to 8 bits is made in 8 bits

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    add = lax.add(p1, p1)
    convert_1 = lax.convert_element_type(add, jnp.int8)
    return convert_1


arguments = [np.array(5, jnp.int4)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -6")
sys.exit(0 if not (got.tobytes().hex() == "0a") and int(got) & 255 in {250} else 1)
