"""a product over x / c becomes one of the x divided by the c, and overflows

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def reducer(p0_1, p1):
    multiply = lax.mul(p0_1, p1)
    return multiply


def f(p2):
    constant = np.full((2,), 4, jnp.float32)
    divide = lax.div(p2, constant)
    constant_2 = np.array(1, jnp.float32)
    reduce = lax.reduce(divide, constant_2, reducer, (0,))
    return reduce


arguments = [np.array([-3.4028234663852886e+38, 2], jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -4.25352933e+37 (0xfdffffff)")
sys.exit(0 if not (got.tobytes().hex() == "000080ff") and float(got) == -4.2535293329816107e+37 else 1)
