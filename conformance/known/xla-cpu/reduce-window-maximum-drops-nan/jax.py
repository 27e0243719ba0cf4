"""a reduce-window of long rows by maximum drops NaN

Written by `assay known --refresh` from program.hlo. It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


def reducer(p0_1, p1):
    maximum = lax.max(p0_1, p1)
    return maximum


def f(p0, p1_1):
    reduce_window = lax.reduce_window(p0, p1_1, reducer, (2, 1), (1, 1), [(0, 0), (0, 0)], (1, 1), (1, 1))
    return reduce_window


arguments = [np.load(__file__.replace("jax.py", "program.npz"))["in0"].view(jnp.float32),
             np.array(0, jnp.float32)]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[0]).reshape(-1)[4]
print(f"JAX answers {got}; right:", "exactly -nan (0xffc00000)")
sys.exit(0 if not (got.tobytes().hex() == "00001040") and float(got) != float(got) else 1)
