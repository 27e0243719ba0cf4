"""a maximum of a dot and an array drops NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def f(p1, p2, p4):
    dot = lax.dot_general(p4, p1, (((0,), (1,)), ((1,), (0,))), preferred_element_type=jnp.float32)
    maximum = lax.max(dot, p2)
    return maximum


arguments = [np.load(__file__.replace("jax.py", "program.npz"))["in0"].view(jnp.float32),
             np.load(__file__.replace("jax.py", "program.npz"))["in1"].view(jnp.float32),
             np.load(__file__.replace("jax.py", "program.npz"))["in2"].view(jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[1]
print(f"JAX answers {got}; right:", "exactly -nan (0xffc00000)")
sys.exit(0 if not (got.tobytes().hex() == "ffff7fbf") and float(got) != float(got) else 1)
