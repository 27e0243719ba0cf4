"""a loop that goes on until an unsigned counter wraps to 0 is taken for one without a trip

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def condition(p0):
    constant_4 = np.array(1, jnp.uint8)
    get_tuple_element = p0[0]
    compare = lax.le(constant_4, get_tuple_element)
    return compare


def body(p0_1):
    get_tuple_element_1 = p0_1[0]
    constant_5 = np.array(1, jnp.uint8)
    add = lax.add(get_tuple_element_1, constant_5)
    tuple_2 = (add, constant_5)
    return tuple_2


def f():
    constant = np.array(2, jnp.uint8)
    tuple_3 = (constant, constant)
    while_ = lax.while_loop(condition, body, tuple_3)
    get_tuple_element_7 = while_[0]
    return get_tuple_element_7


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 0")
sys.exit(0 if not (got.tobytes().hex() == "02") and int(got) & 255 in {0} else 1)
