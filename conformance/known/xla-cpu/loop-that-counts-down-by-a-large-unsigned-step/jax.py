"""a loop that counts down by adding 2^32 - 1 gets a wrong number of trips

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def condition(p0_1):
    constant_2 = np.array(1, jnp.uint32)
    get_tuple_element = p0_1[1]
    compare = lax.le(constant_2, get_tuple_element)
    return compare


def body(p0_2):
    get_tuple_element_2 = p0_2[0]
    negate = lax.neg(get_tuple_element_2)
    get_tuple_element_3 = p0_2[1]
    constant_3 = np.array(4294967295, jnp.uint32)
    add = lax.add(get_tuple_element_3, constant_3)
    tuple = (negate, add)
    return tuple


def f(p0):
    constant = np.array(12, jnp.uint32)
    tuple_1 = (p0, constant)
    while_ = lax.while_loop(condition, body, tuple_1)
    return while_


arguments = [np.load(__file__.replace("jax.py", "program.npz"))["in0"].view(jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 5")
sys.exit(0 if not (got.tobytes().hex() == "fbffffff") and int(got) & 4294967295 in {5} else 1)
