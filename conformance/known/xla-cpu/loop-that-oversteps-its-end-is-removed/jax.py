"""a loop that makes one trip and steps beyond its end is unrolled with its first value

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def condition(p0):
    get_tuple_element = p0[0]
    constant_2 = np.array(1, jnp.int32)
    compare = lax.lt(get_tuple_element, constant_2)
    return compare


def body(p0_1):
    get_tuple_element_1 = p0_1[0]
    constant_3 = np.array(4, jnp.int32)
    add = lax.add(get_tuple_element_1, constant_3)
    tuple_2 = (add, add)
    return tuple_2


def f():
    constant = np.array(0, jnp.int32)
    tuple_3 = (constant, constant)
    while_ = lax.while_loop(condition, body, tuple_3)
    return while_


arguments = []
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 4")
sys.exit(0 if not (got.tobytes().hex() == "00000000") and int(got) & 4294967295 in {4} else 1)
