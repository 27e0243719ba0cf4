"""A vendor's first worker: a few ops on f32 and s32, one result, nothing else. Its multiplier of integers is one of floats."""
import math, os, re, struct, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "backends"))
import worker_protocol as protocol

LINE = re.compile(r"(ROOT )?%?([\w.-]+) = (\w+)\[([\d,]*)\](?:\{[\d,]*\})? ([\w-]+)\(([^()]*)\)(.*)")
FORMATS = {"f32": "f", "s32": "i"}


def refuse(what):
    raise protocol.BackendError("unsupported", f"no {what} here")


def rounded(kind, value):
    if kind == "s32":
        return (int(value) + 2**31) % 2**32 - 2**31
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def times(kind, a, b):
    return float(rounded("f32", a * b)) if kind == "s32" and abs(a * b) < 2**62 else a * b


class Vendor:
    hello = {"name": "vendor", "version": "vendor 0.1", "can_run": True, "deterministic": True}
    programs = {}

    def compile(self, number, text, flags):
        begin, steps = time.perf_counter(), []
        for line in text.split("{\n", 1)[1].rsplit("}", 1)[0].strip().split("\n"):
            found = LINE.fullmatch(line.strip())
            if not found:
                refuse(f"form of {line.strip()[:40]!r}")
            root, name, kind, sizes, op, operands, rest = found.groups()
            if kind not in FORMATS:
                refuse(f"type {kind}")
            if op not in ("parameter", "add", "multiply", "dot") or (op == "dot" and "batch" in rest):
                refuse(f"op {op}")
            dims = [int(size) for size in sizes.split(",") if size]
            contracted = [int(d) for d in re.findall(r"contracting_dims=\{(\d*)\}", rest) if d]
            if op == "dot" and len(contracted) != 2:
                refuse("dot of this form")
            steps.append((bool(root), name, kind, dims, op, re.findall(r"[\w.-]+", operands), contracted))
        self.programs[number] = steps
        return time.perf_counter() - begin

    def run(self, number, arrays, payload):
        values, offset, inputs = {}, 0, []
        for array in arrays:
            count = math.prod(array["dims"])
            inputs.append(struct.unpack_from(f"<{count}{FORMATS[array['type']]}", payload, offset))
            offset += 4 * count
        begin = time.perf_counter()
        for root, name, kind, dims, op, operands, contracted in self.programs[number]:
            if op == "parameter":
                result = inputs[int(operands[0])]
            elif op == "dot":
                result = self.dot(kind, *(values[o] for o in operands), *contracted)
            else:
                (a, _), (b, _) = (values[o] for o in operands)
                result = [rounded(kind, x + y if op == "add" else times(kind, x, y)) for x, y in zip(a, b)]
            values[name] = (result, dims)
            if root:
                out = struct.pack(f"<{len(result)}{FORMATS[kind]}", *result)
                return time.perf_counter() - begin, [{"type": kind, "dims": dims}], [out]

    def dot(self, kind, left, right, i, j):
        def rows(value, axis):
            data, dims = value
            inner, size = math.prod(dims[axis + 1 :]), dims[axis]
            outer = math.prod(dims[:axis])
            return [[data[(o * size + k) * inner + n] for k in range(size)] for o in range(outer) for n in range(inner)]

        return [rounded(kind, sum(x * y for x, y in zip(r, c))) for r in rows(left, i) for c in rows(right, j)]

    def release(self, number):
        self.programs.pop(number, None)


protocol.serve(Vendor)
