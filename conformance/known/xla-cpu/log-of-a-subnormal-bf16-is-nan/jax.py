"""log of a positive subnormal bf16 is NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    constant_1 = np.array(1, jnp.uint16)
    or_ = lax.bitwise_or(p1, constant_1)
    bitcast_convert_1 = lax.bitcast_convert_type(or_, jnp.bfloat16)
    log = lax.log(bitcast_convert_1)
    return log


arguments = [np.array(5, jnp.uint16)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "[-91.329137102038715, -89.829137102038544] (centre -90.579137102038629 +- 1.5 ulp), or -inf, of the zeros only -0")
sys.exit(0 if not (got.tobytes().hex() == "c0ff") and (-91.329137102038729 <= float(got) <= -89.82913710203853 or float(got) == -float('inf')) else 1)
