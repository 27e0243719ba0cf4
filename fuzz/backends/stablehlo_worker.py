"""StableHLO's own interpreter as a backend: a third opinion, which shares no code with the oracle and none with XLA's passes.

    assay check conformance/corpus --backend 'process:python fuzz/backends/stablehlo_worker.py'
    assay fuzz --backend 'process:python fuzz/backends/stablehlo_worker.py --fork-server'     # loaded once for all second checks

jaxlib turns HLO into StableHLO and evaluates that; with the argument "own" Assay does, so that a difference is the interpreter's. What the conversion refuses, complex numbers and several devices are unsupported.
Each evaluation is a forked process, since the interpreter ends its own at one program in nine: a new one that has to load jaxlib costs as much as a dozen programs."""
import os
import pickle
import re
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_protocol import BackendError, element_types, mlir_type, serve  # pylint: disable=wrong-import-position

NOT_TAKEN = ("c64", "c128", "s4", "u4", "s2", "u2", "f4e2m1fn", "f8e8m0fnu")
MOST_ELEMENTS = 1 << 16  # of all arguments: it takes microseconds for each


def in_a_fork(work):
    """What `work` returns or raises as BackendError in a process that may end; that is a crash of this run."""
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(readable)
            try:
                answer = (True, work())
            except BackendError as error:
                answer = (False, (error.kind, str(error)))
            with os.fdopen(writable, "wb") as stream:
                pickle.dump(answer, stream)
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as stream:
        answer = stream.read()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        raise BackendError("run crash", f"the interpreter died of {signal.Signals(os.WTERMSIG(status)).name}")
    if not answer:
        raise BackendError("run crash", "the interpreter ended without an answer")
    is_good, result = pickle.loads(answer)
    if not is_good:
        raise BackendError(*result)
    return result


class Interpreter:
    """Programs by number, as StableHLO."""

    def __init__(self):
        import importlib
        import jaxlib
        import ml_dtypes
        import numpy
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import stablehlo
        self.numpy, self.ir, self.stablehlo = numpy, ir, stablehlo
        self.hlo, self.mlir = (importlib.import_module(name) for name in ("jaxlib._hlo", "jaxlib._jax"))
        self.context = mlir.make_ir_context()
        self.programs = {}
        self.types = {name: dtype for name, dtype in element_types(numpy, ml_dtypes).items() if name not in NOT_TAKEN}
        self.names = {mlir_type(name): name for name in self.types}
        self.hello = {"name": "stablehlo-interpreter", "version": f"StableHLO's interpreter of jaxlib {jaxlib.__version__}",
                      "can_run": True, "deterministic": True, "profile": "strict"}
        self.is_own = "own" in sys.argv[1:]
        if self.is_own:
            self.hello["takes"] = "stablehlo"
            self.hello["version"] += ", given Assay's StableHLO"

    def compile(self, number, text, _flags, *_devices):
        start = time.monotonic()
        if _devices:
            raise BackendError("unsupported", "one device")
        try:
            code = text if self.is_own else self.mlir.mlir.hlo_to_stablehlo(
                self.hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
            with self.context, self.ir.Location.unknown():
                program = self.ir.Module.parse(code)
        except Exception as error:  # pylint: disable=broad-except
            words = " ".join(str(error).splitlines()[:2])  # the first line of a parser says nothing
            raise BackendError("unsupported", f"no StableHLO: {words[:300]}") from error
        types = "".join(str(one) for one in program.body.operations)
        refused = re.search(r"\bmhlo\.\w+ ?[({]|= mhlo\.[\w.]+|chlo\.\w+|stablehlo\.(rng|rng_bit_generator|custom_call|convolution_dynamic|batch_norm\w*)\b", types)
        if refused:  # the interpreter ends the process on them
            raise BackendError("unsupported", f"not interpreted: {refused[0]}")
        if "complex<" in types or "tuple<" in types or "token" in types:
            raise BackendError("unsupported", "complex numbers, tuples and tokens")
        self.programs[number] = program
        return time.monotonic() - start

    def run(self, number, arrays, payload, *_devices):
        numpy, program = self.numpy, self.programs[number]
        values, offset = [], 0
        for array in arrays:
            if array["type"] not in self.types:
                raise BackendError("unsupported", f"element type {array['type']}")
            count = int(numpy.prod(array["dims"], dtype=numpy.int64))
            dtype = self.types[array["type"]]
            values.append(numpy.frombuffer(payload, dtype, count, offset).reshape(array["dims"]))
            offset += count * dtype.itemsize
        if sum(value.size for value in values) > MOST_ELEMENTS:
            raise BackendError("unsupported", f"more than {MOST_ELEMENTS} elements")
        start = time.monotonic()
        outputs = in_a_fork(lambda: self.evaluate(program, values))
        described = [{"type": name, "dims": list(output.shape)} for name, output in outputs]
        return time.monotonic() - start, described, [output.tobytes() for _, output in outputs]

    def evaluate(self, program, values):
        """Names and arrays of the results."""
        with self.context, self.ir.Location.unknown():
            inputs = next(one for one in program.body.operations if one.attributes["sym_name"].value == "main").type.inputs
            arguments = [self.attribute(value, of_type) for value, of_type in zip(values, inputs)]
            try:
                results = self.stablehlo.eval_module(program, arguments)
            except Exception as error:  # pylint: disable=broad-except
                raise BackendError("unsupported", f"not evaluated: {str(error).splitlines()[0][:300]}") from error
            return [self.array(result) for result in results]

    def attribute(self, value, of_type):
        """Literals of MLIR take buffers of the type's own width, a byte for i1."""
        of_type = self.ir.RankedTensorType(of_type)
        numpy, size = self.numpy, value.dtype.itemsize
        codes = numpy.array(value.reshape(-1)).view(f"uint{8 * size}") if value.size else numpy.zeros(0, f"uint{8 * size}")
        return self.ir.DenseElementsAttr.get(codes, shape=of_type.shape, type=of_type.element_type)

    def array(self, result):
        """Name and array of an attribute: its buffer, or what it prints."""
        numpy = self.numpy
        of_type = self.ir.RankedTensorType(result.type)
        name = self.names.get(str(of_type.element_type))
        if name is None:
            raise BackendError("unsupported", f"a result of {of_type.element_type}")
        dtype, shape = self.types[name], list(of_type.shape)
        if name in ("f16", "f32", "f64") or name[0] in "su" or name == "pred":
            return name, numpy.array(result).astype(dtype).reshape(shape)
        text = str(result)[len("dense<"):str(result).rindex(">", 0, str(result).rindex(" : "))]
        if text.startswith('"0x'):
            return name, numpy.frombuffer(bytes.fromhex(text.strip('"')[2:]), dtype).reshape(shape).copy()
        numbers = []
        for word in re.findall(r"0x[0-9A-Fa-f]+|[-+0-9.eE]+", text):
            is_code = word.startswith("0x")
            numbers.append(numpy.array([int(word, 16)], f"uint{8 * dtype.itemsize}").view(dtype)[0] if is_code
                           else numpy.float64(word).astype(dtype))
        flat = numpy.array(numbers, dtype)
        return name, (numpy.full(shape, flat[0], dtype) if flat.size == 1 else flat.reshape(shape))

    def release(self, number):
        self.programs.pop(number, None)


made = []  # by the process that forks


def prepare():
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with threads cannot be forked
    made.append(Interpreter())


serve(lambda: made[0] if made else Interpreter(), prepare)
