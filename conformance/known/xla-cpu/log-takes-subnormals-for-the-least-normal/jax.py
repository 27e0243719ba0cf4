"""log of a subnormal f32 in a long array is that of the least normal number

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    iota = lax.broadcasted_iota(jnp.int32, (2, 13496), 1)
    bitcast_convert = lax.bitcast_convert_type(iota, jnp.float32)
    log = lax.log(bitcast_convert)
    return log


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[13472]
print(f"JAX answers {got}; right:", "[-93.770580240436161, -93.770542093463334] (centre -93.770561166949747 +- 2.5 ulp), or -inf, of the zeros only -0")
sys.exit(0 if not (got.tobytes().hex() == "50acaec2") and (-93.770580240436175 <= float(got) <= -93.77054209346332 or float(got) == -float('inf')) else 1)
