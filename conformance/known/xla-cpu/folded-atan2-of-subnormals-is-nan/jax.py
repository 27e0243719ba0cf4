"""atan2 of two constants near the least normal number is NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    constant = np.array(1.1754942106924411e-38, jnp.float32)
    atan2 = lax.atan2(constant, constant)
    return atan2


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[0.78539789517654457, 1.5707968632367026] (centre 1.1780973792066236 +- 3.29e+06 ulp), or zero (of a flushed operand), of the zeros only 0")
sys.exit(0 if not (got.tobytes().hex() == "0000c07f") and (0.78539789517654446 <= float(got) <= 1.5707968632367029 or float(got) == 0) else 1)
