"""erf of a large number is -1.0000001

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1_1):
    bitcast_convert = lax.bitcast_convert_type(p1_1, jnp.float32)
    erf = lax.erf(bitcast_convert)
    return erf


arguments = [np.load(__file__.replace("jax.py", "program.npz"))["in0"].view(jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[4885]
print(f"JAX answers {got}; right:", "[-1.0000000000000011, -0.99999902123371665] (centre -0.99999951061685888 +- 8.21 ulp)")
sys.exit(0 if not (got.tobytes().hex() == "010080bf") and (-1.0000000000000013 <= float(got) <= -0.99999902123371653) else 1)
