"""cos of a complex number is inf, where its parts are numbers

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    cosine = lax.cos(p0)
    return cosine


arguments = [np.array(complex(-6.0339998526615091e-06, -88), jnp.complex64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [8.2581694613951907e+37, 8.2581930882441543e+37] (centre 8.2581812748196725e+37 +- 23.3 ulp), imaginary part [-6.1643289077637337e+32, -3.8016440114600043e+32] (centre -4.982986459611869e+32 +- 3.05e+06 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "0000807f000080ff") and (8.2581694613951898e+37 <= float(got.real) <= 8.2581930882441553e+37 or float(got.real) == 0) and (-6.1643289077637344e+32 <= float(got.imag) <= -3.8016440114600035e+32 or float(got.imag) == 0) else 1)
