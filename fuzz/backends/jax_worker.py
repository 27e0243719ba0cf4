"""An Assay worker for all that JAX of this interpreter can run. Appended to worker_protocol.py and run with python -c.

Arguments: PLATFORM (cpu, cuda, tpu, or the file of a PJRT plug-in) and COUNT, the devices that the platform shall have.
Needs jax, jaxlib (0.4.13 or newer) and numpy. Flags of a compile request that begin with xla_ are set for that compilation alone.
"""
import ctypes
import importlib
import importlib.metadata
import importlib.util
import re
import time
import zlib


def binding_of_jaxlib():
    """The modules that hold the reader of HLO text and the client: their place in jaxlib changed over the years."""
    names = ("jaxlib._hlo", "jaxlib._jax") if importlib.util.find_spec("jaxlib._hlo") else None
    if names is None:
        one = "jaxlib._jax" if importlib.util.find_spec("jaxlib._jax") else "jaxlib.xla_extension"
        names = (one, one)
    return tuple(importlib.import_module(name) for name in names)


class FreshMemory:
    """Memory that a program reads before it writes it is no zero by chance: while a program runs, the C library fills what it
    hands out. Does nothing where the library has no such way. Compilers allocate far more than programs do, and take 6 % longer
    where all of that is filled."""

    FILL = -6  # M_PERTURB of glibc; what is handed out gets the complement

    def __init__(self):
        self.set = getattr(ctypes.CDLL(None), "mallopt", None)

    def __enter__(self):
        if self.set is not None:
            self.set(self.FILL, 0xFF ^ 0xFB)

    def __exit__(self, *_):
        if self.set is not None:
            self.set(self.FILL, 0)


def import_jax(platform, count):
    """Loads everything that starts no thread; JAX reads its environment here."""
    os.environ["JAX_PLATFORMS"] = platform if "/" not in platform else "assay_plugin"
    # A client would take three quarters of the device's memory for itself, and several workers share a device.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if platform == "cpu" and count > 1:
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={count}".strip()
    try:
        import jax, jaxlib, ml_dtypes, numpy
    except ImportError as error:
        raise ImportError(f"{error}; name a Python that has jaxlib and jax by --python or ASSAY_XLA_PYTHON")
    importlib.import_module("jaxlib.xla_client")
    load_what_all_need(platform)
    return jax, jaxlib, ml_dtypes, numpy


def load_what_all_need(platform):
    """What each worker would find out anew, where this release has it under these names: that no plug-in is installed, and
    the dialects that a program passes through on its way to the compiler. A plug-in may start threads."""
    hlo, binding = binding_of_jaxlib()
    if platform != "cpu":
        return
    try:
        if not importlib.metadata.entry_points(group="jax_plugins"):
            bridge = importlib.import_module("jax._src.xla_bridge")
            getattr(bridge, "_discover_and_register_pjrt_plugins", lambda: None)()
        module = hlo.hlo_module_from_text("HloModule m\nENTRY e { ROOT c = f32[] constant(1) }")
        binding.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(module.as_serialized_hlo_module_proto()))
    except Exception:
        pass  # a worker meets it again, and says so


class JaxDevices:
    def __init__(self, platform, count, modules):
        jax, jaxlib, ml_dtypes, numpy = modules
        jax.config.update("jax_enable_x64", True)
        if "/" in platform:
            importlib.import_module("jax._src.xla_bridge").register_plugin("assay_plugin", library_path=platform)
        self.jax, self.numpy = jax, numpy
        self.hlo, self.binding = binding_of_jaxlib()
        self.options_type = importlib.import_module("jaxlib.xla_client").CompileOptions
        self.devices = jax.devices()
        if len(self.devices) < count:
            raise ValueError(f"{count} devices were asked for; {platform} has {len(self.devices)}")
        self.client = self.devices[0].client
        self.lapack_is_ready = platform != "cpu"
        self.fresh_memory = FreshMemory()
        self.executables = {}
        self.types = element_types(numpy, ml_dtypes)
        self.names = {dtype: name for name, dtype in self.types.items()}
        label = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}
        kind = label.get(self.devices[0].platform, self.devices[0].platform)
        self.hello = {
            "name": "xla",
            "version": f"XLA:{kind} of jaxlib {jaxlib.__version__}",
            "can_run": True,
            # Parts of a sum may be added to memory in any order there.
            "deterministic": kind != "GPU",
            "devices": [f"{self.devices[0].platform}:{k}" for k in range(max(count, 1))],
        }

    @staticmethod
    def initialize_lapack():
        """Calls of LAPACK jump to addresses that JAX sets when it lowers its first such call; a module that comes as text
        would jump to zero. Importing jax has registered their names already. It loads SciPy, which takes as long as compiling
        four programs."""
        try:
            library = importlib.import_module("jaxlib.lapack")._lapack
        except (ImportError, AttributeError):
            return
        library.initialize()

    def compile(self, number, text, flags, replicas=1, partitions=1):
        if partitions > 1:
            text, replicas, partitions = self.as_replicas(text, replicas, partitions)
        if "custom-call" in text and not self.lapack_is_ready:
            self.lapack_is_ready = True
            self.initialize_lapack()
        try:
            computation = self.hlo.XlaComputation(self.parse(text).as_serialized_hlo_module_proto())
        except Exception as error:
            raise self.classed(error, "rejected")
        try:
            module = self.binding.mlir.xla_computation_to_mlir_module(computation)
        except Exception as error:
            raise self.classed(error, "unsupported")
        options = self.compile_options(replicas, partitions)
        self.set_flags(options, {name: value for name, value in flags.items() if name.startswith("xla_")})
        used = self.devices[: replicas * partitions]
        start = time.perf_counter()
        try:
            if hasattr(self.client, "compile_and_load"):
                executable = self.client.compile_and_load(module, self.binding.DeviceList(tuple(used)), options)
            else:
                executable = self.client.compile(module, options)
        except Exception as error:
            text = str(error)
            if "No such compile option" in text or "was not found in the debug options" in text:
                raise BackendError("rejected", f"XLA has no such flag: {text}")
            raise self.classed(error, "compile crash")
        self.executables[number] = (executable, used)
        return time.perf_counter() - start

    @staticmethod
    def as_replicas(text, replicas, partitions):
        """XLA takes a program for several partitions only to partition it again. A program that is partitioned already is
        the same as one for as many replicas, whose collectives name no channel."""
        if replicas > 1:
            raise BackendError("unsupported", "XLA cannot be given a partitioned program for replicas and partitions at once")
        header, newline, body = text.partition("\n")
        header = re.sub(r", (num_partitions|replica_count)=\d+", "", header) + f", replica_count={partitions}"
        body = re.sub(r", (channel_id=\d+|use_global_device_ids=true)", "", body)
        return header + newline + body.replace(" partition-id()", " replica-id()"), partitions, 1

    def compile_options(self, replicas, partitions):
        options = self.options_type()
        if replicas * partitions == 1:
            return options
        if replicas * partitions > len(self.devices):
            wanted = replicas * partitions
            raise BackendError("unsupported", f"the module runs on {wanted} devices; the option devices={wanted} provides them")
        types = importlib.import_module("jaxlib.xla_client")
        numbers = self.numpy.array([d.id for d in self.devices[: replicas * partitions]])
        assignment = types.DeviceAssignment.create(numbers.reshape(replicas, partitions))
        options.num_replicas, options.num_partitions = replicas, partitions
        options.device_assignment = assignment
        build = options.executable_build_options
        build.num_replicas, build.num_partitions = replicas, partitions
        build.device_assignment = assignment
        return options

    # Flags that are lists of words. Releases before 0.7 take no lists where they take all other flags.
    LISTS = ("xla_disable_hlo_passes", "xla_enable_hlo_passes_only")

    def set_flags(self, options, flags):
        overrides = []
        for name, value in flags.items():
            debug = options.executable_build_options.debug_options if name in self.LISTS else None
            if hasattr(debug, name):
                setattr(debug, name, value)
            else:
                overrides.append((name, self.flag_value(value)))
        if overrides:
            options.env_option_overrides = overrides

    # What readers of older releases do not know, and what follows from the rest or says what they do anyway.
    NEEDLESS = ("is_stable", "replica_count", "num_partitions", "result_accuracy", "origin", "buffer_donor", "alias_passthrough_params")

    def parse(self, text):
        for _ in self.NEEDLESS:
            try:
                return self.hlo.hlo_module_from_text(text)
            except Exception as error:
                unknown = re.search(r'unexpected attribute "(\w+)"', str(error))
                if unknown is None or unknown[1] not in self.NEEDLESS:
                    raise
                # A sort keeps its own: without it, equal keys may come in any order.
                of = r"( topk\([^\n]*?)" if unknown[1] == "is_stable" else "()"
                text = re.sub(rf"{of}, {unknown[1]}=(\{{[^{{}}]*\}}|\w+)", r"\1", text)
        return self.hlo.hlo_module_from_text(text)

    @staticmethod
    def flag_value(text):
        if text in ("true", "false"):
            return text == "true"
        try:
            return int(text)
        except ValueError:
            return text

    @staticmethod
    def classed(error, otherwise):
        text = f"{type(error).__name__}: {error}"
        # StableHLO, the form in which jaxlib takes programs, has no room for some legal HLO (sign of unsigned numbers).
        for word, kind in (
            ("UNIMPLEMENTED", "unsupported"),
            ("NOT_FOUND", "unsupported"),
            ("Unsupported fusion kind", "unsupported"),
            # On the way from StableHLO back to HLO, before the compiler sees the program.
            ("<unknown>:0: error:", "unsupported"),
            ("Failed to parse using StableHLO", "unsupported"),
            # Releases that do not know an op, an attribute or a type as others do.
            ("Unknown opcode", "unsupported"),
            ("unexpected attribute", "unsupported"),
            ("is currently only supported in convert instructions", "unsupported"),
            # What a plug-in is given as StableHLO has no place for an op of HLO alone, and what a platform has no code for.
            ("that was explicitly marked illegal", "unsupported"),
            ("No registered implementation for custom call", "unsupported"),
            ("No FFI handler registered", "unsupported"),
            # XLA's own verifier has a narrower view of an op than the documents (cbrt of complex numbers).
            ("Expected element type in shape to be", "unsupported"),
            ("RESOURCE_EXHAUSTED", "out of memory"),
            ("INVALID_ARGUMENT", "rejected"),
        ):
            if word in text:
                return BackendError(kind, text)
        return BackendError(otherwise, text)

    def optimized(self, number):
        return self.executables[number][0].hlo_modules()[0].to_string()

    def run(self, number, arrays, payload, devices=1):
        executable, used = self.executables[number]
        if devices != len(used):
            raise BackendError("run crash", f"arguments for {devices} devices, but the program was compiled for {len(used)}")
        values = self.decode(arrays, payload)
        count = len(values) // devices
        if devices == 1:
            inputs = self.placed(values, used[0])
        else:
            inputs = [self.spread(values[i::count], used) for i in range(count)]
        self.jax.block_until_ready(inputs)
        digest = zlib.crc32(payload)
        start = time.perf_counter()
        try:
            with self.fresh_memory:
                shards = self.execute(executable, inputs)
            seconds = time.perf_counter() - start
            outputs = [self.numpy.asarray(shard[d]) for d in range(devices) for shard in shards]
        except Exception as error:
            raise self.classed(error, "run crash")
        if devices == 1:
            self.find_overwritten(inputs, values, zlib.crc32(payload) != digest)
        for output in outputs:
            if output.dtype not in self.names:
                raise BackendError("unsupported", f"no element type here for numpy's {output.dtype}")
        described = [{"type": self.names[o.dtype], "dims": list(o.shape)} for o in outputs]
        return seconds, described, [self.bytes_of(output) for output in outputs]

    def bytes_of(self, array):
        """The bytes of an array; of a large one where they lie."""
        array = self.numpy.ascontiguousarray(array)
        is_large = array.nbytes > 4096
        return memoryview(array.reshape(-1).view("uint8")) if is_large else array.tobytes()

    def has_spare_bits(self, dtype):
        """Numbers of fewer than eight bits stand in a byte, of which nobody says what the rest holds."""
        return self.names[dtype] in ("s2", "u2", "s4", "u4", "f4e2m1fn")

    def find_overwritten(self, inputs, values, payload_changed):
        """JAX may compute on the bytes of the request, or on a copy of them: neither is the program's to write to."""
        if payload_changed:
            raise BackendError("run crash", "the run wrote over its arguments")
        for number, (given, value) in enumerate(zip(inputs, values)):
            if given.is_deleted() or self.has_spare_bits(value.dtype):
                continue
            if self.numpy.asarray(given).tobytes() != value.tobytes():
                raise BackendError("run crash", f"the run wrote over its argument {number}")

    def decode(self, arrays, payload):
        offset, values = 0, []
        for array in arrays:
            if array["type"] not in self.types:
                raise BackendError("unsupported", f"numpy has no element type {array['type']}")
            dtype, count = self.types[array["type"]], 1
            for size in array["dims"]:
                count *= size
            values.append(self.numpy.frombuffer(payload, dtype, count, offset).reshape(array["dims"]))
            offset += count * dtype.itemsize
        return values

    def placed(self, values, device):
        """The arrays on the device, by what jax.device_put ends in: the way there takes longer than most programs run."""
        put = getattr(self.binding, "batched_device_put", None)
        shape_of = getattr(getattr(self.jax, "core", None), "ShapedArray", None)
        if put is None or shape_of is None:
            return self.jax.device_put(values, device)
        sharding = self.jax.sharding.SingleDeviceSharding(device)
        return [put(shape_of(value.shape, value.dtype), sharding, [value], [device]) for value in values]

    def spread(self, values, used):
        """One array of JAX whose parts on the devices are `values`. It calls itself replicated; nobody compares the parts."""
        sharding = self.jax.sharding
        mesh = sharding.Mesh(self.numpy.array(used), ("device",))
        parts = [self.jax.device_put(value, device) for value, device in zip(values, used)]
        everywhere = sharding.NamedSharding(mesh, sharding.PartitionSpec())
        return self.jax.make_array_from_single_device_arrays(values[0].shape, everywhere, parts)

    @staticmethod
    def execute(executable, inputs):
        """The results, each as the list of its parts by device, ready."""
        shards = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
        for shard in shards:
            for part in shard:
                part.block_until_ready()
        return shards

    def release(self, number):
        self.executables.pop(number, None)


arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
platform = arguments[0] if arguments else "cpu"
count = int(arguments[1]) if len(arguments) > 1 else 1
loaded = []  # by the process that forks; empty where there is none


def prepare():
    loaded.extend(import_jax(platform, count))


serve(lambda: JaxDevices(platform, count, loaded or import_jax(platform, count)), prepare)
