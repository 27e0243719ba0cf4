"""f32 to s64 to u64 to f32 becomes a convert of the s64

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    convert = lax.convert_element_type(p0, jnp.int64)
    convert_1 = lax.convert_element_type(convert, jnp.uint64)
    convert_2 = lax.convert_element_type(convert_1, jnp.float32)
    return convert_2


arguments = [np.array(-1, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1.84467441e+19 (0x5f800000)")
sys.exit(0 if not (got.tobytes().hex() == "000080bf") and float(got) == 1.8446744073709552e+19 else 1)
