"""From a JAX function and arguments to a module in binary form with its inputs and results as arrays of numpy."""
import dataclasses

import numpy


@dataclasses.dataclass
class Lowered:
    module: bytes  # HloModuleProto
    inputs: list  # one array of numpy for each parameter that the module keeps
    outputs: list  # one for each leaf of the result
    platform: str  # "cpu", "cuda", "tpu"
    compiler: str  # "XLA:CPU of jaxlib 0.10.2"


def lower_and_run(function, args, kwargs, static_argnums=None, static_argnames=None):
    """Compiles `function` (plain or jitted), runs it on copies of its arguments, and keeps what is needed to judge it."""
    import jax

    if hasattr(function, "lower"):
        jitted = function
        if static_argnums is not None or static_argnames is not None:
            raise ValueError("static_argnums and static_argnames belong to the jax.jit that made this function")
    else:
        options = {"static_argnums": static_argnums, "static_argnames": static_argnames}
        jitted = jax.jit(function, **{name: value for name, value in options.items() if value is not None})
    lowered = jitted.lower(*args, **kwargs)
    infos = jax.tree_util.tree_leaves(lowered.args_info, is_leaf=_is_info)
    leaves = jax.tree_util.tree_leaves(_dynamic_arguments(jitted, lowered, args, kwargs))
    if len(leaves) != len(infos):
        raise ValueError(f"the function was lowered for {len(infos)} arrays, but {len(leaves)} were given")
    computation = lowered.compiler_ir(dialect="hlo")
    _refuse_manual_sharding(computation)
    compiled = lowered.compile()
    # A donated argument is deleted by the call. What the user passed is copied first and stays usable.
    inputs = [numpy.array(_on_host(leaf)).astype(_dtype(info)) for leaf, info in zip(leaves, infos)]
    dynamic_args, dynamic_kwargs = jax.tree_util.tree_map(_fresh_copy, _dynamic_arguments(jitted, lowered, args, kwargs))
    result = compiled(*dynamic_args, **dynamic_kwargs)
    outputs = [_on_host(leaf) for leaf in jax.tree_util.tree_leaves(result)]
    kept = _kept_parameters(lowered, len(inputs))
    device = next(iter(jax.tree_util.tree_leaves(result)[0].devices())) if outputs else jax.devices()[0]
    return Lowered(
        module=computation.as_serialized_hlo_module_proto(),
        inputs=[inputs[index] for index in kept],
        outputs=outputs,
        platform=device.platform,
        compiler=_compiler_name(device),
    )


def _is_info(node):
    return hasattr(node, "shape") and hasattr(node, "dtype")


def _dtype(info):
    import jax

    # Random keys are arrays of an extended type; the module sees the unsigned integers inside.
    if jax.dtypes.issubdtype(info.dtype, jax.dtypes.extended):
        return numpy.dtype("uint32")
    return numpy.dtype(info.dtype)


def _on_host(leaf):
    import jax

    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
        raise ValueError("an array has parts on other processes: judge the program in a process that holds all of its devices")
    return numpy.asarray(leaf)


def _fresh_copy(leaf):
    import jax

    if not isinstance(leaf, jax.Array):
        return leaf
    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.clone(leaf)
    return jax.device_put(numpy.array(leaf), leaf.sharding)


def _dynamic_arguments(jitted, lowered, args, kwargs):
    """The arguments without those that are static, in the form in which the compiled function takes them."""
    positional, named = lowered.args_info
    if len(positional) == len(args) and set(named) == set(kwargs):
        return tuple(args), dict(kwargs)
    details = getattr(jitted, "_jit_info", None)
    static_numbers = {number % len(args) for number in getattr(details, "static_argnums", ())} if args else set()
    static_names = set(getattr(details, "static_argnames", ()) or ())
    dynamic = tuple(value for number, value in enumerate(args) if number not in static_numbers)
    dynamic_named = {name: value for name, value in kwargs.items() if name in named or name not in static_names}
    return dynamic, dynamic_named


def _kept_parameters(lowered, count):
    """JAX drops arguments that the function does not use: the positions of those that it keeps, in order."""
    lowering = getattr(lowered, "_lowering", None)
    kept = getattr(lowering, "compile_args", {}).get("kept_var_idx")
    return sorted(kept) if kept is not None else list(range(count))


def _refuse_manual_sharding(computation):
    text = computation.as_hlo_text()
    for target in ("xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"):
        if target in text:
            raise ValueError(
                "the function has parts that are written per device (shard_map), whose module means something only after "
                "partitioning; check the function inside it on one device's part"
            )


def _compiler_name(device):
    import jaxlib

    platform = {"cpu": "CPU", "cuda": "GPU", "gpu": "GPU", "rocm": "GPU", "tpu": "TPU"}.get(device.platform, device.platform)
    return f"XLA:{platform} of jaxlib {jaxlib.__version__}"
