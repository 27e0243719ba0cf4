"""From a JAX function and arguments to a module with its inputs and results as arrays of numpy."""
import dataclasses
import os
import pathlib
import tempfile

import numpy


@dataclasses.dataclass
class Lowered:
    module: bytes  # HloModuleProto, or HLO text
    suffix: str  # of the file that holds it: ".hlo.pb", ".hlo"
    inputs: list  # one array of numpy for each parameter that the module keeps
    outputs: list  # one for each leaf of the result
    devices: int  # above 1 the module is one device's part, and inputs and outputs are lists of arrays, one per device
    platform: str  # "cpu", "cuda", "tpu"
    compiler: str  # "XLA:CPU of jaxlib 0.10.2"

    def arrays(self):
        """The arrays by the names that the program knows them by: in0, out0; in0_d1 is the part of device 1."""
        named = {}
        for prefix, arrays in (("in", self.inputs), ("out", self.outputs)):
            for index, array in enumerate(arrays):
                if self.devices == 1:
                    named[f"{prefix}{index}"] = array
                else:
                    named.update({f"{prefix}{index}_d{device}": part for device, part in enumerate(array)})
        return named


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
    is_by_device = _is_written_by_device(computation)
    compiled, partitioned = _compile_and_keep_partitioned(lowered) if is_by_device else (lowered.compile(), None)
    # A donated argument is deleted by the call. What the user passed is copied first and stays usable.
    inputs = [numpy.array(_on_host(leaf)).astype(_dtype(info)) for leaf, info in zip(leaves, infos)]
    dynamic_args, dynamic_kwargs = jax.tree_util.tree_map(_fresh_copy, _dynamic_arguments(jitted, lowered, args, kwargs))
    results = jax.tree_util.tree_leaves(compiled(*dynamic_args, **dynamic_kwargs))
    kept = _kept_parameters(lowered, len(inputs))
    device = next(iter(results[0].devices())) if results else jax.devices()[0]
    if partitioned is None:
        module, suffix, devices = computation.as_serialized_hlo_module_proto(), ".hlo.pb", 1
        inputs, outputs = [inputs[index] for index in kept], [_on_host(leaf) for leaf in results]
    else:
        order = compiled.runtime_executable().local_devices()
        module, suffix, devices = partitioned, ".hlo", len(order)
        inputs = _input_parts(compiled, inputs, kept, order)
        outputs = [_output_parts(leaf, order) for leaf in results]
    return Lowered(
        module=module,
        suffix=suffix,
        inputs=inputs,
        outputs=outputs,
        devices=devices,
        platform=device.platform,
        compiler=_compiler_name(device) + (f" on {devices} devices" if devices > 1 else ""),
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
    # An array that was not put anywhere by the user stays free to go where the compiled function wants it.
    place = leaf.sharding if getattr(leaf, "committed", getattr(leaf, "_committed", True)) else None
    return jax.device_put(numpy.array(leaf), place)


def _dynamic_arguments(jitted, lowered, args, kwargs):
    """The arguments without those that are static, in the form in which the compiled function takes them."""
    positional, named = lowered.args_info
    if len(positional) == len(args) and set(named) == set(kwargs):
        return tuple(args), dict(kwargs)
    details = getattr(jitted, "_jit_info", None)
    numbers = getattr(details, "static_argnums", ()) or ()
    static_numbers = {number if number >= 0 else number + len(args) for number in numbers}
    static_names = set(getattr(details, "static_argnames", ()) or ())
    dynamic = tuple(value for number, value in enumerate(args) if number not in static_numbers)
    dynamic_named = {name: value for name, value in kwargs.items() if name in named or name not in static_names}
    return dynamic, dynamic_named


def _kept_parameters(lowered, count):
    """JAX drops arguments that the function does not use: the positions of those that it keeps, in order."""
    lowering = getattr(lowered, "_lowering", None)
    kept = getattr(lowering, "compile_args", {}).get("kept_var_idx")
    return sorted(kept) if kept is not None else list(range(count))


def _is_written_by_device(computation):
    """Whether the function has parts that are written for one device (shard_map): its module means something only after
    it was partitioned."""
    text = computation.as_hlo_text()
    return any(target in text for target in ("xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"))


def _compile_and_keep_partitioned(lowered):
    """The compiled function, and the text of the module that XLA's partitioner made of it: the program of one device."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        options = {"xla_dump_to": folder, "xla_dump_hlo_pass_re": ".*spmd-partition.*|.*shardy.*", "xla_dump_hlo_as_text": True}
        compiled = lowered.compile(compiler_options=options)
        for stage in ("spmd-partitioning", "shardy-xla"):
            found = sorted(pathlib.Path(folder).glob(f"*.after_{stage}.*.txt"), key=os.path.getmtime)
            if found:
                return compiled, found[-1].read_bytes()
    raise ValueError(
        "the function has parts that are written per device (shard_map), and this jaxlib does not show what its "
        "partitioner makes of them; check the function inside it on one device's part"
    )


def _input_parts(compiled, inputs, kept, order):
    """Of each parameter that the module keeps the part that each device is given."""
    import jax

    shardings = jax.tree_util.tree_leaves(compiled.input_shardings, is_leaf=lambda node: node is None)
    if len(shardings) == len(inputs):
        shardings = [shardings[index] for index in kept]
    parts = []
    for sharding, index in zip(shardings, kept):
        places = sharding.addressable_devices_indices_map(inputs[index].shape)
        parts.append([inputs[index][places[device]] for device in order])
    return parts


def _output_parts(leaf, order):
    import jax

    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    shards = {shard.device: shard.data for shard in leaf.addressable_shards}
    return [numpy.asarray(shards[device]) for device in order]


def _compiler_name(device):
    import jaxlib

    platform = {"cpu": "CPU", "cuda": "GPU", "gpu": "GPU", "rocm": "GPU", "tpu": "TPU"}.get(device.platform, device.platform)
    return f"XLA:{platform} of jaxlib {jaxlib.__version__}"
