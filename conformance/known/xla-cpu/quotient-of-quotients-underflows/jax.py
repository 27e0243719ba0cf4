"""(a / b) / (c / d) becomes (a d) / (b c), where both vanish: 1 becomes NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    divide = lax.div(p0, p0)
    divide_1 = lax.div(divide, divide)
    return divide_1


arguments = [np.array(-5.9604644775390625e-08, jnp.float16)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[0.99753906249999824, 1.0024609375000018] (centre 1 +- 2.52 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "00fe") and (0.99753906249999813 <= float(got) <= 1.002460937500002) else 1)
