"""Elementwise ops of the second opinion. Joined after opinion_types.py."""


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


def divide_numbers(a, b):
    quotient = a / b
    if not numpy.iscomplexobj(quotient):
        return quotient
    # A quotient by zero has the parts of the dividend times infinity, with the sign of the divisor's real part.
    pole = numpy.copysign(numpy.inf, b.real)
    by_zero = numpy.empty_like(quotient)
    by_zero.real, by_zero.imag = pole * a.real, pole * a.imag
    return numpy.where(b == 0, by_zero, quotient)


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


def only_twice_as_wide(function):
    """numpy's complex functions lose some digits: they say something of numbers with half as many."""
    function.needs_twice_the_digits = True
    return function


def arctan2(a, b):
    if a.dtype.kind != "c":
        return numpy.arctan2(a, b)
    return -1j * numpy.log((b + 1j * a) / numpy.sqrt(b * b + a * a))


def complex_of(a, b):
    result = numpy.empty(a.shape, Numbers.complex)
    result.real, result.imag = a, b
    return result


def cbrt(a):
    return numpy.cbrt(a) if a.dtype.kind != "c" else numpy.where(a == 0, a, numpy.exp(numpy.log(numpy.where(a == 0, 1, a)) / 3))


def twice(function):
    return only_twice_as_wide(lambda *values: function(*values))


def of_library(function):
    """What numpy asks the C library for, or of which this file has the formula: nearly all digits are kept of the widest complex
    numbers, which have 11 more than c128."""
    checked = twice(function)
    checked.is_of_library = True
    return checked


def log_plus_one(a):
    if a.dtype.kind != "c":
        return numpy.log1p(a)
    x, y = a.real, a.imag
    # Numpy's own forgets what is small beside 1; near -1 the sum of squares forgets what is small
    # beside its terms, and 1 + x is exact there.
    less_one = x * (2 + x) + y * y
    result = numpy.empty_like(a)
    result.real = numpy.where(numpy.abs(less_one) < 0.5, numpy.log1p(less_one) / 2, numpy.log(numpy.hypot(1 + x, y)))
    result.imag = numpy.arctan2(y, 1 + x)
    return result


BINARY = {
    "add": lambda a, b: a | b if a.dtype.kind == "b" else a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a & b if a.dtype.kind == "b" else a * b,
    "divide": by_type(divide_integers, divide_numbers),
    "remainder": by_type(remainder_integers, numpy.fmod),
    "power": twice(by_type(power_integers, numpy.power)),
    "maximum": no_complex(maximum),
    "minimum": no_complex(minimum),
    "and": numpy.bitwise_and,
    "or": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
    "atan2": twice(arctan2),
    "complex": complex_of,
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
    "exponential-minus-one": of_library(numpy.expm1),
    "log": numpy.log,
    "log-plus-one": of_library(log_plus_one),
    "sqrt": numpy.sqrt,
    "rsqrt": lambda a: 1 / numpy.sqrt(a),
    "cbrt": twice(cbrt),
    "sine": of_library(numpy.sin),
    "cosine": of_library(numpy.cos),
    "tan": of_library(numpy.tan),
    "tanh": of_library(numpy.tanh),
    "sinh": of_library(numpy.sinh),
    "cosh": of_library(numpy.cosh),
    "asin": of_library(numpy.arcsin),
    "acos": of_library(numpy.arccos),
    "asinh": of_library(numpy.arcsinh),
    "acosh": of_library(numpy.arccosh),
    "atanh": of_library(numpy.arctanh),
    "erf": no_complex(real_function(math.erf)),
    "logistic": twice(lambda a: 1 / (1 + numpy.exp(-a))),
    "real": lambda a: a.real,
    "imag": lambda a: a.imag,
    "not": lambda a: ~a,
    "copy": lambda a: a,
}


def elementwise(name, function):
    def evaluate(at, *values):
        kind = at.kind
        if kind == "c128" and getattr(function, "needs_twice_the_digits", False) and not Numbers.are_real:
            if not getattr(function, "is_of_library", False) or numpy.finfo(numpy.longdouble).nmant < 60:
                raise Declined("a function of complex numbers of the widest type")
            return settle(function(*(wide(v).astype(numpy.clongdouble) for v in values)), kind)
        if name == "erf" and kind == "f64":
            as_real(kind, name)  # math has it in float64
        if name in ("real", "imag", "abs", "complex") or not is_complex(kind):
            computed = function(*(wide(v) for v in values))
        else:
            computed = function(*(wide(v).astype(Numbers.complex) for v in values))
        return settle(computed, kind)

    return evaluate


def with_signed_zeros(name, function, is_negative):
    """numpy does not say which zero is the larger; `is_negative` tells it from the signs of both."""

    def evaluate(at, a, b):
        result = elementwise(name, function)(at, a, b)
        if not is_float(at.kind):
            return result
        wide_a, wide_b = wide(a), wide(b)
        negative = is_negative(numpy.signbit(wide_a), numpy.signbit(wide_b))
        return numpy.where((wide_a == 0) & (wide_b == 0), settle(numpy.where(negative, -0.0, 0.0), at.kind), result)

    return evaluate


COMPARE = {"EQ": numpy.equal, "NE": numpy.not_equal, "LT": numpy.less, "LE": numpy.less_equal, "GT": numpy.greater,
           "GE": numpy.greater_equal}


def compare(at, a, b):
    kind = at.program_kind(0)
    a, b = wide(a), wide(b)
    if at.get("type", "") == "TOTALORDER" and is_float(kind):
        a, b = total_order(at.values[0], kind), total_order(at.values[1], kind)
    return COMPARE[at["direction"]](a, b)


def total_order(value, kind):
    """Integers in the order -NaN < -inf < ... < -0 < 0 < ... < inf < NaN. The NaN of a type without -0 is less than all else."""
    as_real(kind, "the total order")
    size = storage(kind).itemsize
    codes = numpy.ascontiguousarray(value).view(f"i{size}").astype(numpy.int64).reshape(numpy.shape(value))
    if kind == "f8e8m0fnu":
        return codes & 255
    top = 1 << ((few_bits(kind) or 8 * size) - 1)
    magnitude = codes & (top - 1)
    negative = codes & 8 != 0 if few_bits(kind) else codes < 0
    least = numpy.where(magnitude == 0, -top, -magnitude) if "fnuz" in kind else -1 - magnitude
    return numpy.where(negative, least, magnitude)


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
    return settle(a, kind)


def bits_of(kind, a):
    """The bits of all elements in a row, the lowest of each first."""
    few = few_bits(kind)
    codes = numpy.unpackbits(numpy.frombuffer(numpy.ascontiguousarray(a).tobytes(), numpy.uint8), bitorder="little")
    return codes.reshape(-1, 8)[:, :few].reshape(-1) if few else codes


def few_bits(kind):
    """Of types that have fewer than a byte; 0 of others."""
    if kind.startswith("f4"):
        return 4
    return width(kind) if is_integer(kind) and width(kind) < 8 else 0


def bitcast_convert(at, a):
    source, kind = at.program_kind(0), at.kind
    for one in (source, kind):
        as_real(one, "the bits")
    if "pred" in (source, kind):
        raise Declined("bits of predicates")
    bits, few = bits_of(source, a), few_bits(kind)
    if few:
        codes = bits.reshape(-1, few)
        bits = numpy.concatenate([codes, numpy.zeros((len(codes), 8 - few), codes.dtype)], 1).reshape(-1)
    result = numpy.frombuffer(numpy.packbits(bits, bitorder="little").tobytes(), storage(kind)).reshape(at.dims)
    return settle(result.astype(numpy.int64), kind) if few and is_integer(kind) else result


def exponent_bits(kind):
    return {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}.get(kind) or int(kind[kind.index("e") + 1:kind.index("m")])


def reduce_precision(at, a):
    exponent, mantissa = at["exponent_bits"], at["mantissa_bits"]
    as_real(at.kind, "the precision")
    value = wide(a)
    m, e = numpy.frexp(value)
    bias = (1 << (exponent - 1)) - 1
    least = 1 - bias
    # Digits are cut off the encoding: those of a subnormal stand where they would in the least normal number.
    format = (ml_dtypes or numpy).finfo(storage(at.kind))
    first = numpy.frexp(float(format.tiny))[1] - 1  # the exponent of the least normal number, whose field is 1
    last = first - mantissa
    step = numpy.where(numpy.isfinite(value), numpy.maximum(e - 1 - mantissa, last), 0).astype(numpy.int64)
    steps = numpy.ldexp(value, -step)
    rounded = numpy.ldexp(numpy.rint(steps), step)
    if mantissa == 0:
        # The last bit that is kept is that of the exponent; no pattern is left for NaN.
        is_lower_even = (numpy.abs(steps) == 1.5) & ((step - first) % 2 == 1)
        rounded = numpy.where(is_lower_even, numpy.ldexp(numpy.copysign(1, value), step), rounded)
        value = numpy.where(numpy.isnan(value), numpy.inf, value)
    largest = math.ldexp(2 - math.ldexp(1, -mantissa), bias)
    if exponent < exponent_bits(at.kind):
        rounded = numpy.where(numpy.abs(rounded) > largest, numpy.copysign(numpy.inf, value), rounded)
        rounded = numpy.where(numpy.abs(rounded) < math.ldexp(1, least), numpy.copysign(0, value), rounded)
    result = numpy.where(numpy.isfinite(value), rounded, value)
    has_no_infinity = not numpy.isinf(numpy.asarray(numpy.inf).astype(storage(at.kind)).astype(float))
    is_beyond = has_no_infinity and numpy.any(numpy.abs(result) > float(format.max))
    if (mantissa == 0 and is_beyond) or (at.kind == "f64" and (exponent, mantissa) != (11, 52)):
        raise Declined("reduce-precision at the ends of its attributes")
    return settle(result, at.kind)


def clamp(at, low, x, high):
    return settle(numpy.minimum(numpy.maximum(wide(x), wide(low)), wide(high)), at.kind)
