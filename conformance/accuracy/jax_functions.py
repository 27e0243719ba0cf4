"""Writes the functions of JAX's page on accuracy as HLO modules on arrays of 65,536 elements.

    python jax_functions.py FOLDER

NAME.TYPE.hlo of FOLDER is what `assay accuracy BACKEND --modules FOLDER` measures. It needs jax."""
import os
import sys

import jax
import jax.numpy as jnp
import jax.scipy.special as special
from jax import lax

SIZE = 65536
TYPES = {"bf16": jnp.bfloat16, "f16": jnp.float16, "f32": jnp.float32, "f64": jnp.float64}
OF_LAX = ("acos acosh asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt cos cosh erf erf_inv erfc exp exp2 expm1 "
          "log log1p logistic reciprocal rsqrt sin sinh sqrt square tan tanh").split()
OF_NUMPY = "deg2rad hypot log10 log2 rad2deg sinc".split()
OF_SPECIAL = "erfcinv erfcx ndtri".split()
PAIRS = {"atan2", "hypot"}


def functions():
    for module, names in ((lax, OF_LAX), (jnp, OF_NUMPY), (special, OF_SPECIAL)):
        for name in names:
            if hasattr(module, name):
                yield name, getattr(module, name)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    jax.config.update("jax_enable_x64", True)
    for name, function in functions():
        for word, dtype in TYPES.items():
            if name == "ndtri" and word in ("bf16", "f16"):
                continue  # JAX does not take them
            argument = jax.ShapeDtypeStruct((SIZE,), dtype)
            arguments = [argument] * (2 if name in PAIRS else 1)
            try:
                text = jax.jit(function).lower(*arguments).as_text("hlo")
            except Exception as error:  # pylint: disable=broad-except
                print(f"{name} {word}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            with open(os.path.join(folder, f"{name}.{word}.hlo"), "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    main()
