"""log-plus-one of f64 numbers is up to 23 ulp off

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    log_plus_one = lax.log1p(p0)
    return log_plus_one


arguments = [np.array(-0.3800201416015625, jnp.float64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[-0.47806828792482942, -0.47806828792482886] (centre -0.47806828792482914 +- 4.5 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "071479bbab98debf") and (-0.47806828792482947 <= float(got) <= -0.47806828792482881) else 1)
