"""log of the least f32 is -103.97 in an array of three elements, where it is -103.28

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    log = lax.log(p0)
    return log


arguments = [np.array([1.4012984643248171e-45, 0, 0], jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[-103.27894897691826, -103.27891082994543] (centre -103.27892990343184 +- 2.5 ulp), or -inf, of the zeros only -0")
sys.exit(0 if not (got.tobytes().hex() == "b4f1cfc2") and (-103.27894897691827 <= float(got) <= -103.27891082994542 or float(got) == -float('inf')) else 1)
