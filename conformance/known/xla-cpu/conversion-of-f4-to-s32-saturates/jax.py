"""6 of f4e2m1fn becomes 2147483647 as an s32

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    convert = lax.convert_element_type(p0, jnp.int32)
    return convert


arguments = [np.array(6, jnp.float4_e2m1fn)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 6")
sys.exit(0 if not (got.tobytes().hex() == "ffffff7f") and int(got) & 4294967295 in {6} else 1)
