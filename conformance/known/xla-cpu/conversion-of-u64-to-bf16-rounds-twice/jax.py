"""u64 to bf16 goes through f32 and rounds twice

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1):
    convert = lax.convert_element_type(p1, jnp.bfloat16)
    return convert


arguments = [np.array(6791428238074707969, jnp.uint64)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[0]
print(f"JAX answers {got}; right:", "exactly 6.80944264e+18 (0x5ebd)")
sys.exit(0 if not (got.tobytes().hex() == "bc5e") and float(got) == 6.80944263658419e+18 else 1)
