"""log of c128 numbers loses digits of its real part

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p0):
    log = lax.log(p0)
    return log


arguments = [np.array(complex(-3.3052441132335414e-05, 0.76541411014059579), jnp.complex128)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "real part [-0.26733827023907875, -0.2673382702390743] (centre -0.26733827023907653 +- 39.8 ulp), imaginary part [1.5708395092247371, 1.5708395092247416] (centre 1.5708395092247394 +- 9.96 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "4858e9f9111cd1bfbd28f69b2822f93f") and (-0.2673382702390788 <= float(got.real) <= -0.26733827023907425 or float(got.real) == 0) and (1.5708395092247369 <= float(got.imag) <= 1.5708395092247418 or float(got.imag) == 0) else 1)
