"""cbrt of subnormal numbers is off by far

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    cbrt = lax.cbrt(p0)
    return cbrt


arguments = [np.array(-1.4012984643248171e-45, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[-1.1190350576194665e-15, -1.1190343164656357e-15] (centre -1.1190346870425511e-15 +- 3.5 ulp), or zero (of a flushed operand), of the zeros only -0")
sys.exit(0 if not (got.tobytes().hex() == "184521a6") and (-1.1190350576194667e-15 <= float(got) <= -1.1190343164656355e-15 or float(got) == 0) else 1)
