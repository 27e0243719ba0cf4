"""log-plus-one of -1 and a least imaginary part is -inf

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


arguments = [np.array(complex(-1, -1.1754943508222875e-38), jnp.complex64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [-87.592538205526679, -87.080551295579525] (centre -87.336544750553102 +- 3.36e+04 ulp), imaginary part [-1.5707978248230989, -1.5707948287666942] (centre -1.5707963267948966 +- 12.6 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "000080ffdb0fc9bf") and (-87.592538205526694 <= float(got.real) <= -87.080551295579511 or float(got.real) == 0) and (-1.5707978248230992 <= float(got.imag) <= -1.570794828766694 or float(got.imag) == 0) else 1)
