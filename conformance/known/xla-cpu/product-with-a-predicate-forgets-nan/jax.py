"""a product with a converted predicate becomes a select: 0 times NaN or inf is 0

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p2, p3):
    convert = lax.convert_element_type(p3, jnp.float32)
    multiply = lax.mul(convert, p2)
    return multiply


arguments = [np.array(nan, jnp.float32),
             np.array(False, jnp.bool_)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly nan (0x7fc00000)")
sys.exit(0 if not (got.tobytes().hex() == "00000000") and float(got) != float(got) else 1)
