"""a reshape of an iota of a narrow float is counted anew and rounded in another way

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f():
    iota = lax.broadcasted_iota(jnp.float16, (2052,), 0)
    reshape = lax.reshape(iota, (684, 3))
    return reshape


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[2050]
print(f"JAX answers {got}; right:", "exactly 2050 (0x6801)")
sys.exit(0 if not (got.tobytes().hex() == "0068") and float(got) == 2050 else 1)
