"""a dot of an iota of 2,048 and a broadcast number reads memory that nobody wrote

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    iota = lax.broadcasted_iota(jnp.float32, (2, 2048), 1)
    broadcast = lax.broadcast_in_dim(p0, (2048, 2), ())
    dot = lax.dot_general(iota, broadcast, (((1,), (0,)), ((0,), (1,))), preferred_element_type=jnp.float32)
    return dot


arguments = [np.array(1.25, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 2620160 (0x4a1fec00)")
sys.exit(0 if not (got.tobytes().hex() == "6380c0ff") and float(got) == 2620160 else 1)
