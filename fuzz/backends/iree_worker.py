"""IREE's llvm-cpu as a backend: a compiler and a run time that share nothing with XLA.

    assay conform --suite matrix --backend 'process:python fuzz/backends/iree_worker.py'

The python is one with iree-base-compiler and iree-base-runtime. It takes StableHLO, which Assay writes."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_protocol import BackendError, element_types, mlir_type, serve  # pylint: disable=wrong-import-position

FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host",
         "--iree-input-demote-i64-to-i32=false", "--iree-input-demote-f64-to-f32=false")
# The compiler's own words for what it does not do.
REFUSED = re.compile(r"failed to legalize|unsupported|not supported|unhandled|unknown|custom op|expected|could not|must be|invalid", re.I)


class Iree:
    """Programs by number, loaded."""

    def __init__(self):
        import importlib.metadata
        import iree.compiler
        import iree.runtime
        import ml_dtypes
        import numpy
        self.numpy, self.compiler, self.runtime = numpy, iree.compiler, iree.runtime
        self.config = iree.runtime.Config("local-sync")
        self.programs = {}
        # Its buffers hold no numbers of less than two bytes but integers and truth values.
        self.types = {name: dtype for name, dtype in element_types(numpy, ml_dtypes).items()
                      if name[0] not in "suf" or int(re.match(r"[suf](\d+)", name)[1]) >= (16 if name[0] == "f" else 8)}
        self.words = {mlir_type(name): name for name in self.types}
        self.hello = {"name": "iree", "version": "IREE " + importlib.metadata.version("iree-base-compiler") + " llvm-cpu",
                      "can_run": True, "deterministic": True, "profile": "xla", "takes": "stablehlo"}

    def compile(self, number, text, _flags, *_devices):
        if _devices:
            raise BackendError("unsupported", "one device")
        start = time.monotonic()
        signature = text[text.index("@main("):text.index(" {\n", text.index("@main("))]
        arguments, results = signature.split(") -> (")
        results = re.findall(r"tensor<((?:\d+x)*)([^<>]+(?:<\w+>)?)>", results)
        for _, word in re.findall(r"tensor<((?:\d+x)*)([^<>]+(?:<\w+>)?)>", arguments) + results:
            if word not in self.words:
                raise BackendError("unsupported", f"element type {word}")
        try:
            code = self.compiler.compile_str(text, input_type="stablehlo", extra_args=FLAGS)
        except self.compiler.CompilerToolError as error:
            lines = [line for line in str(error).splitlines() if "error:" in line] or str(error).splitlines()[:1]
            kind = "unsupported" if REFUSED.search(lines[0]) else "compile crash"
            raise BackendError(kind, lines[0][:300]) from error
        context = self.runtime.SystemContext(config=self.config)
        context.add_vm_module(self.runtime.VmModule.copy_buffer(context.instance, code))
        self.programs[number] = (context, context.modules["assay"]["main"], results)
        return time.monotonic() - start

    def run(self, number, arrays, payload, *_devices):
        numpy = self.numpy
        _, function, results = self.programs[number]
        values, offset = [], 0
        for array in arrays:
            dtype = self.types[array["type"]]
            count = int(numpy.prod(array["dims"], dtype=numpy.int64))
            values.append(numpy.frombuffer(payload, dtype, count, offset).reshape(array["dims"]))
            offset += count * dtype.itemsize
        start = time.monotonic()
        outputs = function(*values)
        seconds = time.monotonic() - start
        if not results:
            return seconds, [], []
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        described, chunks = [], []
        for output, (sizes, word) in zip(outputs, results):
            name = self.words[word]
            dims = [int(size) for size in sizes.split("x") if size]
            data = numpy.asarray(output.to_host() if hasattr(output, "to_host") else output)
            if data.dtype != self.types[name]:
                data = data.view(self.types[name]) if data.dtype.itemsize == self.types[name].itemsize else data.astype(self.types[name])
            described.append({"type": name, "dims": dims})
            chunks.append(numpy.ascontiguousarray(data).tobytes())
        return seconds, described, chunks

    def release(self, number):
        self.programs.pop(number, None)


serve(Iree)
