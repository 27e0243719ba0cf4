"""XLA:CPU of the jaxlib beside this interpreter, as an Assay worker. Appended to worker_protocol.py and run with python -c.

Needs jax, jaxlib and numpy. Flags of a compile request that begin with xla_ are set for that compilation alone.
"""
import time


class XlaCpu:
    def __init__(self):
        os.environ["JAX_PLATFORMS"] = "cpu"
        try:
            import jax, jaxlib, ml_dtypes, numpy
        except ImportError as error:
            raise ImportError(f"{error}; name a Python that has jaxlib and jax by --python or ASSAY_XLA_PYTHON")

        jax.config.update("jax_enable_x64", True)
        from jaxlib import _hlo, _jax

        self.jax, self.numpy, self.hlo, self.binding = jax, numpy, _hlo, _jax
        self.client = jax.devices("cpu")[0].client
        self.devices = _jax.DeviceList(tuple(self.client.local_devices()[:1]))
        self.executables = {}
        self.types = {
            "pred": numpy.dtype(bool),
            "bf16": numpy.dtype(ml_dtypes.bfloat16),
            "f16": numpy.dtype("float16"),
            "f32": numpy.dtype("float32"),
            "f64": numpy.dtype("float64"),
            "c64": numpy.dtype("complex64"),
            "c128": numpy.dtype("complex128"),
        }
        for bits in (8, 16, 32, 64):
            self.types[f"s{bits}"] = numpy.dtype(f"int{bits}")
            self.types[f"u{bits}"] = numpy.dtype(f"uint{bits}")
        for name in ("s4", "u4", "s2", "u2"):
            if hasattr(ml_dtypes, name.replace("s", "int").replace("u", "uint")):
                self.types[name] = numpy.dtype(getattr(ml_dtypes, name.replace("s", "int").replace("u", "uint")))
        for name in ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3", "f8e3m4", "f8e8m0fnu"):
            if hasattr(ml_dtypes, name.replace("f8", "float8_", 1)):
                self.types[name] = numpy.dtype(getattr(ml_dtypes, name.replace("f8", "float8_", 1)))
        if hasattr(ml_dtypes, "float4_e2m1fn"):
            self.types["f4e2m1fn"] = numpy.dtype(ml_dtypes.float4_e2m1fn)
        self.names = {dtype: name for name, dtype in self.types.items()}
        self.hello = {
            "name": "xla",
            "version": f"XLA:CPU of jaxlib {jaxlib.__version__}",
            "can_run": True,
            "deterministic": True,
        }

    def compile(self, number, text, flags):
        try:
            parsed = self.parse(text)
            computation = self.hlo.XlaComputation(parsed.as_serialized_hlo_module_proto())
            module = self.binding.mlir.xla_computation_to_mlir_module(computation)
        except Exception as error:
            raise self.classed(error, "rejected")
        options = self.binding.CompileOptions()
        overrides = [(name, self.flag_value(value)) for name, value in flags.items() if name.startswith("xla_")]
        if overrides:
            options.env_option_overrides = overrides
        start = time.perf_counter()
        try:
            self.executables[number] = self.client.compile_and_load(module, self.devices, options)
        except Exception as error:
            raise self.classed(error, "compile crash")
        return time.perf_counter() - start

    def parse(self, text):
        try:
            return self.hlo.hlo_module_from_text(text)
        except Exception as error:
            # Readers from before 2026 do not know the attribute whose value here is what they do anyway.
            if 'unexpected attribute "is_stable"' not in str(error):
                raise
            lines = [l.replace(", is_stable=true", "") if " topk(" in l else l for l in text.split("\n")]
            return self.hlo.hlo_module_from_text("\n".join(lines))

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
            ("Failed to parse using StableHLO", "unsupported"),
            ("RESOURCE_EXHAUSTED", "out of memory"),
        ):
            if word in text:
                return BackendError(kind, text)
        return BackendError(otherwise, text)

    def optimized(self, number):
        return self.executables[number].hlo_modules()[0].to_string()

    def run(self, number, arrays, payload):
        numpy, offset, inputs = self.numpy, 0, []
        for array in arrays:
            if array["type"] not in self.types:
                raise BackendError("unsupported", f"numpy has no element type {array['type']}")
            dtype, count = self.types[array["type"]], 1
            for size in array["dims"]:
                count *= size
            value = numpy.frombuffer(payload, dtype, count, offset).reshape(array["dims"])
            offset += count * dtype.itemsize
            inputs.append(self.jax.device_put(value))
        self.jax.block_until_ready(inputs)
        start = time.perf_counter()
        try:
            shards = self.executables[number].execute_sharded(inputs).disassemble_into_single_device_arrays()
            for shard in shards:
                shard[0].block_until_ready()
            seconds = time.perf_counter() - start
            outputs = [numpy.asarray(shard[0]) for shard in shards]
        except Exception as error:
            raise self.classed(error, "run crash")
        for output in outputs:
            if output.dtype not in self.names:
                raise BackendError("unsupported", f"no element type here for numpy's {output.dtype}")
        described = [{"type": self.names[o.dtype], "dims": list(o.shape)} for o in outputs]
        return seconds, described, [numpy.ascontiguousarray(o).tobytes() for o in outputs]

    def release(self, number):
        self.executables.pop(number, None)


serve(XlaCpu)
