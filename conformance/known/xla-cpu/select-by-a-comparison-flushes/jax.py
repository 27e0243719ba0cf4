"""a select of the smaller of two subnormal numbers is flushed before its bits are read

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1, p2):
    compare = lax.lt(p2, p1)
    select = lax.select(compare, p2, p1)
    bitcast_convert = lax.bitcast_convert_type(select, jnp.int32)
    constant_1 = np.full((8, 8), 1, jnp.int32)
    or_ = lax.bitwise_or(bitcast_convert, constant_1)
    return or_


arguments = [np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], jnp.float32).reshape(8, 8),
             np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1.1754942106924411e-38, 0, 0, 0, 0, 0, 0], jnp.float32).reshape(8, 8)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[57]
print(f"JAX answers {got}; right:", "exactly -2139095041")
sys.exit(0 if not (got.tobytes().hex() == "01000080") and int(got) & 4294967295 in {2155872255} else 1)
