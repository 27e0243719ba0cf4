"""65536 ^ 65536 of u32 is 1: the exponent is cut

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p2):
    power = lax.pow(p2, p2)
    return power


arguments = [np.array(65536, jnp.uint32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0")
sys.exit(0 if not (got.tobytes().hex() == "01000000") and int(got) & 4294967295 in {0} else 1)
