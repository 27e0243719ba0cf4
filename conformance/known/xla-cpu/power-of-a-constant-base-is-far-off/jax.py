"""128 ^ x in an array of two is 20 ulp off

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    constant_1 = np.full((2,), 128, jnp.float32)
    power = lax.pow(constant_1, p0)
    return power


arguments = [np.array([0, 2.4989387989044189], jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[1]
print(f"JAX answers {got}; right:", "[184411.74823687432, 184411.88886187467] (centre 184411.8185493745 +- 4.5 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "ef163448") and (184411.74823687429 <= float(got) <= 184411.8888618747) else 1)
