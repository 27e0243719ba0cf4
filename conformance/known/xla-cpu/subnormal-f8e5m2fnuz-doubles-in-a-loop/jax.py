"""the least numbers of f8e5m2fnuz double on each trip of a loop

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
    constant_4 = np.array(0, jnp.int32)
    compare = lax.ne(get_tuple_element, constant_4)
    return compare


def body(p0_2):
    constant = np.array(0, jnp.int32)
    get_tuple_element_3 = p0_2[1]
    negate = lax.neg(get_tuple_element_3)
    tuple_2 = (constant, negate)
    return tuple_2


def f(p1, p1_1):
    tuple_3 = (p1_1, p1)
    while_ = lax.while_loop(condition, body, tuple_3)
    get_tuple_element_5 = while_[1]
    return get_tuple_element_5


arguments = [np.array(-3.0517578125e-05, jnp.float8_e5m2fnuz),
             np.array(1, jnp.int32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 3.05175781e-05 (0x4)")
sys.exit(0 if not (got.tobytes().hex() == "08") and float(got) == 3.0517578125e-05 else 1)
