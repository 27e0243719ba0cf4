"""A second opinion on small programs: evaluates HLO with numpy alone, knows nothing of Assay's oracle or of any compiler.

Assay appends a line that calls give_opinion(PROGRAM) with a program and its inputs as JSON. Each op is a row of the table OPS:
a function of the instruction and the values of its operands. Integers wrap as numpy's do; floats are computed in float64 (or
complex128) and rounded to their type after every op. What is not in the table, or too large, is declined. A program is
    {"entry": name, "computations": {name: {"root": id, "instructions": [{"id", "op", "shape", "operands", "callees",
     "attributes", "literal"}]}}, "inputs": [literal]}
with shapes [type, [dims]] or {"tuple": [shape]} and literals the hexadecimal bytes of row-major little-endian elements.
"""
import functools
import itertools
import json
import math

import numpy

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

MOST_STEPS = 200_000  # element evaluations of scalar computations and loop trips together
MOST_ELEMENTS = 1 << 17


class Declined(Exception):
    """The program is beyond what this file does."""


# ---- Element types: name -> storage in numpy, and the bits of small integers.

TYPES = {"pred": numpy.dtype(bool), "f16": numpy.dtype("float16"), "f32": numpy.dtype("float32"), "f64": numpy.dtype("float64"),
         "c64": numpy.dtype("complex64"), "c128": numpy.dtype("complex128")}
for _bits in (8, 16, 32, 64):
    TYPES[f"s{_bits}"], TYPES[f"u{_bits}"] = numpy.dtype(f"int{_bits}"), numpy.dtype(f"uint{_bits}")
for _bits in (2, 4):
    TYPES[f"s{_bits}"], TYPES[f"u{_bits}"] = numpy.dtype("int8"), numpy.dtype("uint8")
for _name in ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3", "f8e3m4", "f8e8m0fnu", "f4e2m1fn"):
    _theirs = "float" + _name[1] + "_" + _name[2:]
    if hasattr(ml_dtypes, _theirs):
        TYPES[_name] = numpy.dtype(getattr(ml_dtypes, _theirs))
if ml_dtypes is not None:
    TYPES["bf16"] = numpy.dtype(ml_dtypes.bfloat16)


def is_complex(kind):
    return kind[0] == "c"


def is_float(kind):
    return kind[0] in "fb"


def is_integer(kind):
    return kind[0] in "su"


def width(kind):
    return int(kind[1:])


def storage(kind):
    if kind not in TYPES:
        raise Declined(f"numpy has no element type {kind}")
    return TYPES[kind]


def wide(value):
    """Numbers that ops compute with: floats as float64, complex as complex128, others as they are."""
    value = numpy.asarray(value)
    if value.dtype.kind == "c":
        return value.astype(numpy.complex128)
    return value if value.dtype.kind in "iub" else value.astype(numpy.float64)


def round_odd(value):
    """float64 to float32 by rounding to odd: rounding that once more to fewer than 22 bits is rounding once."""
    near = value.astype(numpy.float32)
    exact = (near.astype(numpy.float64) == value) | ~numpy.isfinite(value) | ~numpy.isfinite(near)
    toward = numpy.where(numpy.abs(near.astype(numpy.float64)) > numpy.abs(value), numpy.nextafter(near, numpy.float32(0)), near)
    bits = toward.view(numpy.uint32) | numpy.uint32(1)
    return numpy.where(exact, near, bits.view(numpy.float32))


def settle(value, kind):
    """A computed value as an array of the type."""
    dtype = storage(kind)
    value = numpy.asarray(value)
    if value.dtype == dtype and not (is_integer(kind) and width(kind) < 8):
        return value
    if is_integer(kind) and width(kind) < 8:
        bits = width(kind)
        low = value.astype(numpy.int64) & ((1 << bits) - 1)
        return (numpy.where(low >> (bits - 1), low - (1 << bits), low) if kind[0] == "s" else low).astype(dtype)
    if is_float(kind) and dtype.itemsize < 4 and kind != "f16" and value.dtype == numpy.float64:
        value = round_odd(numpy.atleast_1d(value)).reshape(value.shape)
    return value.astype(dtype)


# ---- Elementwise ops.


def by_type(integers, floats):
    return lambda a, b: integers(a, b) if a.dtype.kind in "iub" else floats(a, b)


def divide_integers(a, b):
    a_, b_ = a.astype(object), b.astype(object)
    least = -(1 << (8 * a.dtype.itemsize - 1)) if a.dtype.kind == "i" else 0

    def one(x, y):
        if y == 0:
            return -1
        return least if a.dtype.kind == "i" and x == least and y == -1 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    return wrapped(numpy.frompyfunc(one, 2, 1)(a_, b_), a.dtype)


def remainder_integers(a, b):
    def one(x, y):
        return x if y == 0 else int(math.copysign(1, x)) * (abs(x) % abs(y))

    return wrapped(numpy.frompyfunc(one, 2, 1)(a.astype(object), b.astype(object)), a.dtype)


def wrapped(objects, dtype):
    mask = (1 << (8 * dtype.itemsize)) - 1
    codes = numpy.frompyfunc(lambda x: int(x) & mask, 1, 1)(objects)
    return numpy.asarray(codes).astype(numpy.uint64).astype(f"uint{8 * dtype.itemsize}").view(dtype)


def power_integers(a, b):
    modulus = 1 << (8 * a.dtype.itemsize)

    def one(x, y):
        if y >= 0:
            return pow(x, y, modulus)
        return 1 if x == 1 else (1 if y % 2 == 0 else -1) if x == -1 else 0

    return wrapped(numpy.frompyfunc(one, 2, 1)(a.astype(object), b.astype(object)), a.dtype)


def shift(kind, arithmetic=False, left=False):
    bits, mask = width(kind), (1 << width(kind)) - 1

    def one(x, y):
        by = int(y) & mask
        if left:
            return 0 if by >= bits else int(x) << by
        if arithmetic:
            low = int(x) & mask
            return (low - (1 << bits) if low >> (bits - 1) else low) >> min(by, bits - 1)
        return 0 if by >= bits else (int(x) & mask) >> by

    return lambda a, b: wrapped(numpy.frompyfunc(one, 2, 1)(a.astype(object), b.astype(object)), a.dtype)


def count(kind, leading):
    bits, mask = width(kind), (1 << width(kind)) - 1
    one = (lambda x: bits - (int(x) & mask).bit_length()) if leading else (lambda x: bin(int(x) & mask).count("1"))
    return lambda a: wrapped(numpy.frompyfunc(one, 1, 1)(a.astype(object)), a.dtype)


def real_function(one):
    """math's function on each element; outside its domain NaN, beyond the largest number infinity."""

    def safe(x):
        try:
            return float(one(float(x)))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return lambda a: numpy.asarray(numpy.frompyfunc(safe, 1, 1)(a)).astype(numpy.float64)


def maximum(a, b):
    return a | b if a.dtype.kind == "b" else numpy.maximum(a, b)


def minimum(a, b):
    return a & b if a.dtype.kind == "b" else numpy.minimum(a, b)


def sign_of(a):
    return a / numpy.where(a == 0, 1, numpy.abs(a)) if a.dtype.kind == "c" else numpy.where(a == 0, a, numpy.sign(a))


def no_complex(function):
    def checked(*values):
        if any(v.dtype.kind == "c" for v in values):
            raise Declined("a function of complex numbers")
        return function(*values)

    return checked


BINARY = {
    "add": lambda a, b: a | b if a.dtype.kind == "b" else a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a & b if a.dtype.kind == "b" else a * b,
    "divide": by_type(divide_integers, lambda a, b: a / b),
    "remainder": by_type(remainder_integers, numpy.fmod),
    "power": by_type(power_integers, no_complex(numpy.power)),
    "maximum": no_complex(maximum),
    "minimum": no_complex(minimum),
    "and": numpy.bitwise_and,
    "or": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
    "atan2": no_complex(numpy.arctan2),
    "complex": numpy.vectorize(complex, otypes=[numpy.complex128]),
}
UNARY = {
    "negate": lambda a: -a,
    "abs": lambda a: numpy.abs(a),
    "sign": sign_of,
    "floor": numpy.floor,
    "ceil": numpy.ceil,
    "round-nearest-even": numpy.rint,
    "round-nearest-afz": lambda a: numpy.where(numpy.abs(a - numpy.trunc(a)) == 0.5, numpy.trunc(a) + numpy.copysign(1, a), numpy.rint(a)),
    "exponential": numpy.exp,
    "exponential-minus-one": no_complex(numpy.expm1),
    "log": numpy.log,
    "log-plus-one": no_complex(numpy.log1p),
    "sqrt": numpy.sqrt,
    "rsqrt": lambda a: 1 / numpy.sqrt(a),
    "cbrt": no_complex(numpy.cbrt),
    "sine": no_complex(numpy.sin),
    "cosine": no_complex(numpy.cos),
    "tan": no_complex(numpy.tan),
    "tanh": no_complex(numpy.tanh),
    "sinh": no_complex(numpy.sinh),
    "cosh": no_complex(numpy.cosh),
    "asin": no_complex(numpy.arcsin),
    "acos": no_complex(numpy.arccos),
    "asinh": no_complex(numpy.arcsinh),
    "acosh": no_complex(numpy.arccosh),
    "atanh": no_complex(numpy.arctanh),
    "erf": no_complex(real_function(math.erf)),
    "logistic": no_complex(lambda a: 1 / (1 + numpy.exp(-a))),
    "real": lambda a: a.real,
    "imag": lambda a: a.imag,
    "not": lambda a: ~a,
    "copy": lambda a: a,
}


def elementwise(name, function):
    def evaluate(at, *values):
        kind = at.kind
        if name in ("real", "imag", "abs", "complex") or not is_complex(kind):
            computed = function(*(wide(v) for v in values))
        else:
            computed = function(*(wide(v).astype(numpy.complex128) for v in values))
        return settle(computed, kind)

    return evaluate


def signed_zero_maximum(at, a, b):
    """numpy does not say which zero is the larger."""
    result = elementwise("maximum", maximum)(at, a, b)
    if is_float(at.kind):
        wide_a, wide_b = wide(a), wide(b)
        zero = (wide_a == 0) & (wide_b == 0)
        result = numpy.where(zero, settle(numpy.where(numpy.signbit(wide_a) & numpy.signbit(wide_b), -0.0, 0.0), at.kind), result)
    return result


def signed_zero_minimum(at, a, b):
    result = elementwise("minimum", minimum)(at, a, b)
    if is_float(at.kind):
        wide_a, wide_b = wide(a), wide(b)
        zero = (wide_a == 0) & (wide_b == 0)
        result = numpy.where(zero, settle(numpy.where(numpy.signbit(wide_a) | numpy.signbit(wide_b), -0.0, 0.0), at.kind), result)
    return result


COMPARE = {"EQ": numpy.equal, "NE": numpy.not_equal, "LT": numpy.less, "LE": numpy.less_equal, "GT": numpy.greater,
           "GE": numpy.greater_equal}


def compare(at, a, b):
    kind = at.program_kind(0)
    a, b = wide(a), wide(b)
    if at.get("type", "") == "TOTALORDER" and is_float(kind):
        a, b = total_order(at.values[0], kind), total_order(at.values[1], kind)
    return COMPARE[at["direction"]](a, b)


def total_order(value, kind):
    bits = 8 * storage(kind).itemsize
    codes = numpy.ascontiguousarray(value).view(f"uint{bits}").astype(object)
    top = 1 << (bits - 1)
    return numpy.frompyfunc(lambda c: -(c & (top - 1)) - 1 if c & top else c, 1, 1)(codes)


def convert(at, a):
    source, kind = at.program_kind(0), at.kind
    a = wide(a)
    if kind == "pred":
        return a != 0
    if is_integer(kind) and not is_integer(source) and source != "pred":
        bits = width(kind)
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
        real = a.real

        def one(x):
            return 0 if math.isnan(x) else low if x <= low else high if x >= high else int(x)

        return settle(wrapped(numpy.frompyfunc(one, 1, 1)(real), numpy.dtype(f"{'int' if kind[0] == 's' else 'uint'}64")), kind)
    if is_complex(source) and not is_complex(kind):
        a = a.real
    if is_float(kind) and a.dtype.kind in "iu" and a.dtype.itemsize == 8:
        if kind not in ("f64", "f32", "f16"):
            raise Declined("rounding of 64 bits to a narrow float")
    return settle(a, kind)


def bitcast_convert(at, a):
    source, kind = at.program_kind(0), at.kind
    if "pred" in (source, kind) or min(8 * storage(source).itemsize, 8 * storage(kind).itemsize) < 8 or any(
            is_integer(k) and width(k) < 8 for k in (source, kind)) or "f4" in source + kind:
        raise Declined("bits of types below a byte")
    return numpy.frombuffer(numpy.ascontiguousarray(a).tobytes(), storage(kind)).reshape(at.dims)


def reduce_precision(at, a):
    exponent, mantissa = at["exponent_bits"], at["mantissa_bits"]
    value = wide(a)
    m, e = numpy.frexp(value)
    bias = (1 << (exponent - 1)) - 1
    least = 1 - bias
    step = numpy.where(numpy.isfinite(value), e - 1 - mantissa, 0).astype(numpy.int64)
    rounded = numpy.ldexp(numpy.rint(numpy.ldexp(value, -step)), step)
    largest = math.ldexp(2 - math.ldexp(1, -mantissa), bias)
    rounded = numpy.where(numpy.abs(rounded) > largest, numpy.copysign(numpy.inf, value), rounded)
    rounded = numpy.where(numpy.abs(rounded) < math.ldexp(1, least), numpy.copysign(0, value), rounded)
    if mantissa == 0 or (at.kind == "f64" and (exponent, mantissa) != (11, 52)):
        raise Declined("reduce-precision at the ends of its attributes")
    return settle(numpy.where(numpy.isfinite(value), rounded, value), at.kind)


def clamp(at, low, x, high):
    return settle(numpy.minimum(numpy.maximum(wide(x), wide(low)), wide(high)), at.kind)


# ---- Movement.


def broadcast(at, a):
    shape = [1] * len(at.dims)
    for i, d in enumerate(at["dimensions"]):
        shape[d] = a.shape[i]
    order = numpy.argsort(at["dimensions"]) if len(at["dimensions"]) else []
    return numpy.broadcast_to(a.transpose(order).reshape(shape) if len(order) else a, at.dims)


def pad(at, a, value):
    result = numpy.full(at.dims, value, dtype=a.dtype)
    for index in numpy.ndindex(*a.shape):
        to = [lo + i * (interior + 1) for i, (lo, _, interior) in zip(index, at["padding"])]
        if all(0 <= t < size for t, size in zip(to, at.dims)):
            result[tuple(to)] = a[index]
    return result


def starts_of(values, dims, sizes):
    """Each start clamped on its own, so that all of the slice lies inside."""
    if len(values) == 1 and numpy.ndim(values[0]) == 1:
        values = list(values[0])
    return [max(0, min(int(v), d - s)) for v, d, s in zip(values, dims, sizes)]


def dynamic_slice(at, a, *starts):
    sizes = at["dynamic_slice_sizes"]
    at_ = starts_of(starts, a.shape, sizes)
    return a[tuple(slice(b, b + s) for b, s in zip(at_, sizes))]


def dynamic_update_slice(at, a, update, *starts):
    at_ = starts_of(starts, a.shape, update.shape)
    result = a.copy()
    result[tuple(slice(b, b + s) for b, s in zip(at_, update.shape))] = update
    return result


def iota(at):
    d = at["iota_dimension"]
    shape = [1] * len(at.dims)
    shape[d] = at.dims[d]
    line = numpy.arange(at.dims[d])
    line = settle(line.astype(numpy.float64), at.kind) if is_float(at.kind) or is_complex(at.kind) else settle(line, at.kind)
    return numpy.broadcast_to(line.reshape(shape), at.dims)


def reverse(at, a):
    return numpy.flip(a, tuple(at["dimensions"]))


# ---- Ops that call scalar computations.


def fold_many(at, operands, inits, groups):
    """`groups`: for each result element the indices that are combined into it, in ascending order."""
    count = len(operands)
    results = [numpy.empty(at.dims_of(i), storage(at.kind_of(i))) for i in range(count)]
    for to, indices in groups:
        total = list(inits)
        for index in indices:
            values = [numpy.asarray(o[index]) if index is not None else i for o, i in zip(operands, inits)]
            total = as_list(at.call(0, *total, *values), count)
        for result, value in zip(results, total):
            result[to] = value
    return tuple(results) if at.is_tuple else results[0]


def as_list(value, count):
    return list(value) if isinstance(value, tuple) else [value] * (count == 1)


def reduce(at, *values):
    half = len(values) // 2
    operands, inits = values[:half], values[half:]
    over = list(at["dimensions"])
    kept = [d for d in range(operands[0].ndim) if d not in over]

    def groups():
        for to in numpy.ndindex(*(operands[0].shape[d] for d in kept)):
            def indices():
                for inner in numpy.ndindex(*(operands[0].shape[d] for d in over)):
                    index = [0] * operands[0].ndim
                    for d, i in list(zip(kept, to)) + list(zip(over, inner)):
                        index[d] = i
                    yield tuple(index)
            yield to, indices()

    return fold_many(at, operands, inits, groups())


def places(window, shape, out):
    """(window index, operand index or None) under an output index."""
    for inside in numpy.ndindex(*(w["size"] for w in window)):
        index = []
        for o, i, w, size in zip(out, inside, window, shape):
            at_ = o * w["stride"] + i * w["window_dilation"] - w["low"]
            index.append(at_ // w["base_dilation"] if at_ % w["base_dilation"] == 0 and 0 <= at_ // w["base_dilation"] < size else None)
        yield inside, (None if None in index else tuple(index))


def reduce_window(at, *values):
    half = len(values) // 2
    operands, inits = values[:half], values[half:]
    out_dims = at.dims_of(0)
    groups = ((o, (p for _, p in places(at["window"], operands[0].shape, o))) for o in numpy.ndindex(*out_dims))
    return fold_many(at, operands, inits, groups)


def map_(at, *values):
    result = numpy.empty(at.dims, storage(at.kind))
    for index in numpy.ndindex(*at.dims):
        result[index] = at.call(0, *(numpy.asarray(v[index]) for v in values))
    return result


def sort(at, *values):
    d = at["dimensions"][0]
    results = [v.copy() for v in values]
    for line in numpy.ndindex(*(s for i, s in enumerate(values[0].shape) if i != d)):
        where = [tuple(line[:d]) + (k,) + tuple(line[d:]) for k in range(values[0].shape[d])]

        def less(i, j):
            pairs = [numpy.asarray(v[where[k]]) for v in values for k in (i, j)]
            return bool(at.call(0, *pairs))

        order = sorted(range(len(where)), key=functools.cmp_to_key(lambda i, j: -1 if less(i, j) else 1 if less(j, i) else 0))
        for result, value in zip(results, values):
            for to, source in zip(where, order):
                result[to] = value[where[source]]
    return tuple(results) if at.is_tuple else results[0]


def select_and_scatter(at, operand, source, init):
    result = numpy.full(at.dims, init, dtype=operand.dtype)
    for out in numpy.ndindex(*source.shape):
        best = None
        for _, index in places(at["window"], operand.shape, out):
            if index is None:
                continue
            if best is None or not bool(at.call(0, numpy.asarray(operand[best]), numpy.asarray(operand[index]))):
                best = index
        if best is not None:
            result[best] = at.call(1, numpy.asarray(result[best]), numpy.asarray(source[out]))
    return result


# ---- Indices.


def index_vectors(indices, vector_dim):
    """Batch index -> vector of integers."""
    if vector_dim == indices.ndim:
        indices = indices[..., None]
    moved = numpy.moveaxis(indices, vector_dim, -1)
    for batch in numpy.ndindex(*moved.shape[:-1]):
        yield batch, [int(x) for x in moved[batch]]


def gather(at, operand, indices):
    offset_dims, sizes = at["offset_dims"], at["slice_sizes"]
    batching, index_batching = at.get("operand_batching_dims", []), at.get("start_indices_batching_dims", [])
    gone = set(at["collapsed_slice_dims"]) | set(batching)
    window_dims = [d for d in range(operand.ndim) if d not in gone]
    batch_dims = [d for d in range(len(at.dims)) if d not in offset_dims]
    positions = [d for d in range(indices.ndim) if d != at["index_vector_dim"]]
    result = numpy.empty(at.dims, operand.dtype)
    for batch, vector in index_vectors(indices, at["index_vector_dim"]):
        start = [0] * operand.ndim
        for d, v in zip(at["start_index_map"], vector):
            start[d] = max(0, min(v, operand.shape[d] - sizes[d]))
        for d, b in zip(batching, index_batching):
            start[d] = batch[positions.index(b)]
        for offset in numpy.ndindex(*(sizes[d] for d in window_dims)):
            source, to = list(start), [0] * len(at.dims)
            for d, o in zip(window_dims, offset):
                source[d] += o
            for d, o in list(zip(offset_dims, offset)) + list(zip(batch_dims, batch)):
                to[d] = o
            result[tuple(to)] = operand[tuple(source)]
    return result


def scatter(at, *values):
    count = (len(values) - 1) // 2
    operands, indices, updates = values[:count], values[count], values[count + 1:]
    window_dims = at["update_window_dims"]
    batching, index_batching = at.get("input_batching_dims", []), at.get("scatter_indices_batching_dims", [])
    gone = set(at["inserted_window_dims"]) | set(batching)
    kept = [d for d in range(operands[0].ndim) if d not in gone]
    batch_dims = [d for d in range(updates[0].ndim) if d not in window_dims]
    positions = [d for d in range(indices.ndim) if d != at["index_vector_dim"]]
    results = [o.copy() for o in operands]
    sizes = [updates[0].shape[d] for d in window_dims]
    for batch, vector in index_vectors(indices, at["index_vector_dim"]):
        start = [0] * operands[0].ndim
        for d, v in zip(at["scatter_dims_to_operand_dims"], vector):
            start[d] = v
        for d, b in zip(batching, index_batching):
            start[d] = batch[positions.index(b)]
        for offset in numpy.ndindex(*sizes):
            to, source = list(start), [0] * updates[0].ndim
            for d, o in zip(kept, offset):
                to[d] += o
            for d, o in list(zip(window_dims, offset)) + list(zip(batch_dims, batch)):
                source[d] = o
            if not all(0 <= t < s for t, s in zip(to, operands[0].shape)):
                continue
            old = [numpy.asarray(r[tuple(to)]) for r in results]
            new = as_list(at.call(0, *old, *(numpy.asarray(u[tuple(source)]) for u in updates)), count)
            for r, n in zip(results, new):
                r[tuple(to)] = n
    return tuple(results) if at.is_tuple else results[0]


# ---- Contractions.


def dot(at, a, b):
    lb, rb = at.get("lhs_batch_dims", []), at.get("rhs_batch_dims", [])
    lc, rc = at.get("lhs_contracting_dims", []), at.get("rhs_contracting_dims", [])
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    left, right = [next(letters) for _ in range(a.ndim)], [None] * b.ndim
    for x, y in list(zip(lb, rb)) + list(zip(lc, rc)):
        right[y] = left[x]
    right = [r or next(letters) for r in right]
    out = [left[d] for d in lb] + [left[d] for d in range(a.ndim) if d not in list(lb) + list(lc)]
    out += [right[d] for d in range(b.ndim) if d not in list(rb) + list(rc)]
    return settle(numpy.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", product_of(a, at), product_of(b, at)), at.kind)


def product_of(value, at):
    """Products of integers are computed in the type of the result, modulo its size."""
    return settle(wide(value), at.kind) if is_integer(at.kind) else wide(value)


def convolution(at, a, b):
    labels, window = at["dim_labels"], at["window"]
    groups, batch_groups = at.get("feature_group_count", 1), at.get("batch_group_count", 1)
    if any(w["reversal"] for w in window):
        raise Declined("a reversed window")
    wide_a, wide_b = product_of(a, at), product_of(b, at)
    spatial = [a.shape[d] for d in labels["input_spatial"]]
    outputs = b.shape[labels["kernel_output_feature"]]
    inputs = b.shape[labels["kernel_input_feature"]]
    per_batch = a.shape[labels["input_batch"]] // batch_groups
    result = numpy.zeros(at.dims, wide_a.dtype)
    for out in numpy.ndindex(*at.dims):
        feature, n = out[labels["output_feature"]], out[labels["output_batch"]]
        place = tuple(out[d] for d in labels["output_spatial"])
        total = wide_a.dtype.type(0)
        for inside, index in places(window, spatial, place):
            if index is None:
                continue
            for i in range(inputs):
                source, kernel = [0] * a.ndim, [0] * b.ndim
                source[labels["input_batch"]] = n + (feature // (outputs // batch_groups)) * per_batch
                source[labels["input_feature"]] = i + (feature // (outputs // groups)) * inputs
                kernel[labels["kernel_input_feature"]], kernel[labels["kernel_output_feature"]] = i, feature
                for d, x in zip(labels["input_spatial"], index):
                    source[d] = x
                for d, x in zip(labels["kernel_spatial"], inside):
                    kernel[d] = x
                total = total + wide_a[tuple(source)] * wide_b[tuple(kernel)]
        result[out] = total
    return settle(result, at.kind)


# ---- Control.


def while_(at, state):
    while bool(at.call(0, state)):
        at.machine.step()
        state = at.call(1, state)
    return state


def conditional(at, selector, *arguments):
    if at.program_kind(0) == "pred":
        which = 0 if bool(selector) else 1
    else:
        which = int(selector) if 0 <= int(selector) < len(arguments) else len(arguments) - 1
    return at.call(which, arguments[which])


OPS = {
    "broadcast": broadcast, "clamp": clamp, "compare": compare, "conditional": conditional, "convert": convert,
    "bitcast-convert": bitcast_convert, "convolution": convolution, "dot": dot, "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice, "gather": gather, "iota": iota, "map": map_, "pad": pad, "reduce": reduce,
    "reduce-precision": reduce_precision, "reduce-window": reduce_window, "reverse": reverse, "scatter": scatter,
    "select-and-scatter": select_and_scatter, "sort": sort, "while": while_,
    "call": lambda at, *values: at.call(0, *values),
    "concatenate": lambda at, *values: numpy.concatenate(values, at["dimensions"][0]),
    "get-tuple-element": lambda at, value: value[at["index"]],
    "tuple": lambda at, *values: tuple(values),
    "optimization-barrier": lambda at, value: value,
    "reshape": lambda at, a: a.reshape(at.dims),
    "select": lambda at, p, a, b: numpy.where(p, a, b),
    "slice": lambda at, a: a[tuple(slice(*r) for r in at["slice"])],
    "transpose": lambda at, a: a.transpose(at["dimensions"]),
    "is-finite": lambda at, a: numpy.isfinite(wide(a)),
    "popcnt": lambda at, a: settle(count(at.kind, leading=False)(a), at.kind),
    "count-leading-zeros": lambda at, a: settle(count(at.kind, leading=True)(a), at.kind),
    "shift-left": lambda at, a, b: settle(shift(at.kind, left=True)(a, b), at.kind),
    "shift-right-logical": lambda at, a, b: settle(shift(at.kind)(a, b), at.kind),
    "shift-right-arithmetic": lambda at, a, b: settle(shift(at.kind, arithmetic=True)(a, b), at.kind),
}
OPS.update({name: elementwise(name, function) for table in (UNARY, BINARY) for name, function in table.items()})
OPS.update({"maximum": signed_zero_maximum, "minimum": signed_zero_minimum})


# ---- The machine.


class Site:
    """One instruction with the values of its operands."""

    def __init__(self, machine, instruction, kinds, values):
        self.machine, self.instruction, self.kinds, self.values = machine, instruction, kinds, values
        shape = instruction["shape"]
        self.is_tuple = isinstance(shape, dict)
        self.shapes = shape["tuple"] if self.is_tuple else [shape]
        self.kind = None if self.is_tuple else shape[0]
        self.dims = None if self.is_tuple else tuple(shape[1])

    def kind_of(self, i):
        return self.shapes[i][0]

    def dims_of(self, i):
        return tuple(self.shapes[i][1])

    def program_kind(self, operand):
        return self.kinds[operand]

    def __getitem__(self, name):
        return self.instruction["attributes"][name]

    def get(self, name, otherwise):
        return self.instruction["attributes"].get(name, otherwise)

    def call(self, which, *values):
        return self.machine.run(self.instruction["callees"][which], values)


class Machine:
    def __init__(self, computations):
        self.computations, self.steps = computations, 0

    def step(self):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Declined("too many steps")

    def run(self, name, arguments):
        computation, values, kinds = self.computations[name], {}, {}
        for instruction in computation["instructions"]:
            self.step()
            values[instruction["id"]] = self.evaluate(instruction, arguments, values, kinds)
            shape = instruction["shape"]
            kinds[instruction["id"]] = None if isinstance(shape, dict) else shape[0]
        return values[computation["root"]]

    def evaluate(self, instruction, arguments, values, kinds):
        op, shape = instruction["op"], instruction["shape"]
        if op == "parameter":
            return arguments[instruction["attributes"]["parameter_number"]]
        if op == "constant":
            return decode(instruction["literal"], shape)
        if op not in OPS:
            raise Declined(f"no row for {op}")
        operands = instruction["operands"]
        site = Site(self, instruction, [kinds[o] for o in operands], [values[o] for o in operands])
        if not site.is_tuple and int(numpy.prod(site.dims, dtype=object)) > MOST_ELEMENTS:
            raise Declined("too many elements")
        value = OPS[op](site, *site.values)
        return value if isinstance(value, tuple) else numpy.asarray(value)


def decode(text, shape):
    dtype = storage(shape[0])
    return numpy.frombuffer(bytes.fromhex(text), dtype).reshape(shape[1])


def leaves(value, shape):
    if isinstance(shape, dict):
        return list(itertools.chain.from_iterable(leaves(v, s) for v, s in zip(value, shape["tuple"])))
    return [(shape, numpy.ascontiguousarray(settle(value, shape[0])).tobytes().hex())]


def opinion_of(program):
    """The leaves of the result, as [shape, bytes], or why there is no opinion."""
    entry = program["computations"][program["entry"]]
    shapes = {i["id"]: i["shape"] for i in entry["instructions"]}
    parameters = {i["attributes"]["parameter_number"]: i["shape"] for i in entry["instructions"] if i["op"] == "parameter"}
    try:
        with numpy.errstate(all="ignore"):
            inputs = [decode(text, parameters[k]) for k, text in enumerate(program["inputs"])]
            result = Machine(program["computations"]).run(program["entry"], inputs)
            return {"outputs": leaves(result, shapes[entry["root"]])}
    except Declined as why:
        return {"declined": str(why)}
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        return {"declined": f"{type(error).__name__}: {error}"}


def give_opinion(text):
    """Prints the opinion on a program as one JSON object."""
    print(json.dumps(opinion_of(json.loads(text))))
