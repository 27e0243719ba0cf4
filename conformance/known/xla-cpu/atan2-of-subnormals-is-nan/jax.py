"""atan2 of subnormal numbers is NaN: 0 / 0 of what was flushed

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    atan2 = lax.atan2(p0, p0)
    return atan2


arguments = [np.array(-1.4012984643248171e-45, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[-3.1415937264734084, -1.5707957903530825] (centre -2.3561947584132454 +- 3.29e+06 ulp), of the zeros only -0")
sys.exit(0 if not (got.tobytes().hex() == "0000c07f") and (-3.1415937264734088 <= float(got) <= -1.5707957903530823) else 1)
