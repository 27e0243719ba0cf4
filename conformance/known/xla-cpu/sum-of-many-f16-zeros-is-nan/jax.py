"""a sum of 65,520 elements of a broadcast f16 becomes a product with their number, which f16 does not hold: 0 inf = NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def reducer(p0, p1):
    add = lax.add(p0, p1)
    return add


def f(p0_1):
    iota = lax.broadcasted_iota(jnp.float16, (65520, 1), 1)
    reduce = lax.reduce(iota, p0_1, reducer, (0, 1))
    return reduce


arguments = [np.array(1.25, jnp.float16)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 1.25 (0x3d00)")
sys.exit(0 if not (got.tobytes().hex() == "00fe") and float(got) == 1.25 else 1)
