"""an iota of u4 that is converted to 8 bits counts beyond 15

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    iota = lax.broadcasted_iota(jnp.uint4, (17,), 0)
    convert = lax.convert_element_type(iota, jnp.uint8)
    return convert


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[16]
print(f"JAX answers {got}; right:", "exactly 0")
sys.exit(0 if not (got.tobytes().hex() == "10") and int(got) & 255 in {0} else 1)
