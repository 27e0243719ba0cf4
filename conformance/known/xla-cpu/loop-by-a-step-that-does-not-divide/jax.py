"""a loop from -32768 to -32760 by 3 makes one trip less

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def condition(p0_1):
    get_tuple_element = p0_1[0]
    constant_2 = np.array(-32760, jnp.int32)
    compare = lax.lt(get_tuple_element, constant_2)
    return compare


def body(p0_2):
    get_tuple_element_1 = p0_2[0]
    constant_3 = np.array(3, jnp.int32)
    add = lax.add(get_tuple_element_1, constant_3)
    get_tuple_element_4 = p0_2[2]
    negate = lax.neg(get_tuple_element_4)
    tuple_2 = (add, get_tuple_element_4, negate)
    return tuple_2


def f(p0):
    constant = np.array(-32768, jnp.int32)
    tuple_3 = (constant, p0, p0)
    while_ = lax.while_loop(condition, body, tuple_3)
    return while_


arguments = [np.array([5, 4, 0, 5, -2, -4, 5, 2, -3, -4, 4, 0, -4, 0, 5, -4, -3, -3, -4, -5, 2, -4, 3, 1, 2, -5, 0, -4, 1, -3, 3, -5, -4, 3, 5, 5, 2, -4, 2, 3, -5, -4, -1, -2, 5, -5, 3, -2, 5, -3, 4, -4, 4, 4, 2, 2, -4, -4, -5, -2, -5, -4, -2, -5], jnp.int32).reshape(8, 8)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly -32759")
sys.exit(0 if not (got.tobytes().hex() == "0680ffff") and int(got) & 4294967295 in {4294934537} else 1)
