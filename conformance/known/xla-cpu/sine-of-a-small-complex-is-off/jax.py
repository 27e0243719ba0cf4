"""sine of small complex numbers loses its imaginary part's digits

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    sine = lax.sin(p0)
    return sine


arguments = [np.array(complex(-3.1626412599905507e-09, -2.4929590836109128e-07), jnp.complex64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [-3.89288307432388e-09, -2.4323994456574182e-09] (centre -3.1626412599906491e-09 +- 3.29e+06 ulp), imaginary part [-2.5002632622367253e-07, -2.4856549049851521e-07] (centre -2.4929590836109387e-07 +- 2.57e+04 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "c65559b1000080b4") and (-3.8928830743238808e-09 <= float(got.real) <= -2.4323994456574178e-09 or float(got.real) == 0) and (-2.5002632622367259e-07 <= float(got.imag) <= -2.4856549049851516e-07 or float(got.imag) == 0) else 1)
