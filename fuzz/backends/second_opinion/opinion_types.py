"""A second opinion on small programs: evaluates HLO with numpy alone, knows nothing of Assay's oracle or of any compiler.

Assay joins the files of this folder into one script, from the types to the machine (kParts in fuzz/opinions/second_opinion.cc),
and appends a line that calls give_opinion(PROGRAM) with a program and its inputs as JSON. Each op is a row of the table OPS:
a function of the instruction and the values of its operands. Integers wrap as numpy's do; floats are computed in float64 (or
complex128) and rounded to their type after every op; or, where a program asks for "reals", in numpy's widest type, once without
rounding and once with, but as if exponents had no ends. What is not in the table, or too large, is declined. A program is
    {"entry": name, "computations": {name: {"root": id, "instructions": [{"id", "op", "shape", "operands", "callees",
     "attributes", "literal"}]}}, "inputs": [literal], "devices": number, "reals": bool}
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


class Numbers:
    """What floats are computed in and kept as."""

    are_real = False  # kept as they are computed, or
    have_digits = False  # rounded to the significand of their type, whatever their exponent
    float, complex = numpy.float64, numpy.complex128

    @classmethod
    def become_real(cls):
        """The widest numbers that numpy has: 64 bits of significand, and an exponent that products of few floats do not end."""
        cls.are_real, cls.float, cls.complex = True, numpy.longdouble, numpy.clongdouble
        if numpy.finfo(numpy.longdouble).nmant < 60:
            raise Declined("numpy has no numbers wider than f64 here")


def as_real(kind, what):
    """For ops that look at how a number is written, or round it on purpose."""
    if Numbers.are_real and (is_float(kind) or is_complex(kind)):
        raise Declined(f"{what} of real numbers")


def digits_of(kind):
    """The bits of the significand of a float type, or of the parts of a complex one."""
    known = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53, "c64": 24, "c128": 53}
    return known[kind] if kind in known else 1 + int(kind[kind.index("m") + 1])


def rounded(value, digits):
    if value.dtype.kind == "c":
        parts = numpy.empty_like(value)
        parts.real, parts.imag = rounded(value.real, digits), rounded(value.imag, digits)
        return parts
    significand, exponent = numpy.frexp(value)
    near = numpy.ldexp(numpy.rint(numpy.ldexp(significand, digits)), exponent - digits)
    return numpy.where(numpy.isfinite(value), near, value)


def is_complex(kind):
    return kind[0] == "c"


def is_float(kind):
    return kind[0] in "fb"


def is_integer(kind):
    return kind[0] in "su"


def width(kind):
    return int(kind[1:])


def written(kind):
    """The type whose bytes stand in literals."""
    if kind not in TYPES:
        raise Declined(f"numpy has no element type {kind}")
    return TYPES[kind]


def storage(kind):
    if Numbers.are_real and (is_float(kind) or is_complex(kind)):
        return numpy.dtype(Numbers.complex if is_complex(kind) else Numbers.float)
    return written(kind)


def wide(value):
    """Numbers that ops compute with: floats and complex numbers as Numbers says, others as they are."""
    value = numpy.asarray(value)
    if value.dtype.kind == "c":
        return value.astype(Numbers.complex)
    return value if value.dtype.kind in "iub" else value.astype(Numbers.float)


def round_odd(value):
    """float64 to float32 by rounding to odd: rounding that once more to fewer than 22 bits is rounding once."""
    near = value.astype(numpy.float32)
    exact = (near.astype(numpy.float64) == value) | ~numpy.isfinite(value) | ~numpy.isfinite(near)
    toward = numpy.where(numpy.abs(near.astype(numpy.float64)) > numpy.abs(value), numpy.nextafter(near, numpy.float32(0)), near)
    bits = toward.view(numpy.uint32) | numpy.uint32(1)
    return numpy.where(exact, near, bits.view(numpy.float32))


def from_integers(value):
    """Integers as float64, rounded to odd where they have more bits than it holds."""
    near = value.astype(numpy.float64)
    if value.dtype.itemsize < 8:
        return near
    def one(exact, rounded):
        if int(rounded) == exact:
            return rounded
        toward = rounded if abs(int(rounded)) < abs(exact) else numpy.nextafter(rounded, 0.0)
        return (numpy.asarray(toward).view(numpy.uint64) | numpy.uint64(1)).view(numpy.float64)
    return numpy.asarray(numpy.frompyfunc(one, 2, 1)(value.astype(object), near)).astype(numpy.float64)


def settle(value, kind):
    """A computed value as an array of the type."""
    dtype = storage(kind)
    value = numpy.asarray(value)
    if Numbers.have_digits and (is_float(kind) or is_complex(kind)):
        return rounded(value.astype(dtype), digits_of(kind))
    if value.dtype == dtype and not (is_integer(kind) and width(kind) < 8):
        return value
    if is_integer(kind) and width(kind) < 8:
        bits = width(kind)
        low = value.astype(numpy.int64) & ((1 << bits) - 1)
        return (numpy.where(low >> (bits - 1), low - (1 << bits), low) if kind[0] == "s" else low).astype(dtype)
    if is_float(kind) and dtype.itemsize < 8 and value.dtype.kind in "iu":
        value = from_integers(numpy.atleast_1d(value)).reshape(value.shape)
    if is_float(kind) and dtype.itemsize < 4 and kind != "f16" and value.dtype == numpy.float64:
        value = round_odd(numpy.atleast_1d(value)).reshape(value.shape)
    return value.astype(dtype)
