"""the largest legal start is computed in the type of the start: of u8 and 257 elements it is 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0, p2, p3):
    dynamic_update_slice = lax.dynamic_update_slice(p0, p3, [p2], allow_negative_indices=False)
    return dynamic_update_slice


arguments = [np.load(__file__.replace("jax.py", "program.npz"))["in0"].view(jnp.int32),
             np.array(2, jnp.uint8),
             np.array([-4], jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 5")
sys.exit(0 if not (got.tobytes().hex() == "fcffffff") and int(got) & 4294967295 in {5} else 1)
