// Binary floating point formats as rows, and correctly rounded conversion to and from them.
// Document: operation semantics chapter 1.3 (formats) and 1.5 (rounding and overflow of the narrow
// types).
#pragma once

#include <bit>
#include <cstdint>

#include "spec/types/element_type.h"

namespace assay {

// The meaning of the largest exponent and of the all-ones codes of a format.
enum class SpecialValues : uint8_t {
  kIeee,     // infinities and NaNs as IEEE 754
  kFn,       // no infinity; NaN is all ones; overflow becomes NaN
  kFnuz,     // no infinity, no negative zero; the one NaN is the code of -0; overflow becomes NaN
  kFinite,   // neither infinity nor NaN; overflow clamps to the largest finite value
  kExponent  // f8e8m0fnu: an exponent only, no sign, no zero; 0xFF is NaN
};

struct FloatFormat {
  ElementType type;
  int exponent_bits;
  int mantissa_bits;  // stored bits, without the hidden one
  int bias;
  SpecialValues special;

  int bits() const {
    return (special == SpecialValues::kExponent ? 0 : 1) + exponent_bits + mantissa_bits;
  }
  int precision() const { return mantissa_bits + 1; }  // significand bits with the hidden one
  double MaxFinite() const;
  double MinNormal() const;
  double MinSubnormal() const;
  bool HasInfinity() const { return special == SpecialValues::kIeee; }
  bool HasNan() const { return special != SpecialValues::kFinite; }
  bool HasNegativeZero() const {
    return special != SpecialValues::kFnuz && special != SpecialValues::kExponent;
  }
};

// The format of a float type, or of the component of a complex type. `type` must be one of those.
const FloatFormat& Format(ElementType type);

// The value of a code. Exact: every format here is a subset of double. NaN codes give a NaN of the
// same sign; f64 and f32 keep their payload in the leading mantissa bits.
double DecodeFloat(const FloatFormat& format, uint64_t code);

// The code nearest to `value`, ties to even, overflow as the format says. Rounds once. NaN gives
// the canonical quiet NaN with the sign kept where the format has one.
uint64_t EncodeFloat(const FloatFormat& format, double value);
// EncodeFloat of the exact integer ±magnitude, which is rounded once as well.
uint64_t EncodeInteger(const FloatFormat& format, uint64_t magnitude, bool negative);

// The canonical quiet NaN.
uint64_t QuietNan(const FloatFormat& format, bool negative = false);
bool IsNanCode(const FloatFormat& format, uint64_t code);

// Position of a non-NaN code on the number line of its type: consecutive values differ by one, both
// zeros are 0, infinity is one above the largest finite value (chapter 1.6). The distance of two
// codes in ulps is the difference.
int64_t Ordinal(const FloatFormat& format, uint64_t code);
// ulp distance with the NaN rules of chapter 1.6; NaN against a number gives INT64_MAX.
int64_t UlpDistance(const FloatFormat& format, uint64_t a, uint64_t b);

// Storage types of the 16-bit formats, so that typed loops can name them. Arithmetic is by
// conversion only.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(double value);
  explicit operator double() const;
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(double value);
  explicit operator double() const { return static_cast<float>(*this); }
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};
// Any 8-bit-or-narrower float, one code per byte.
template <ElementType kType>
struct NarrowFloat {
  uint8_t bits = 0;
  NarrowFloat() = default;
  explicit NarrowFloat(double value)
      : bits(static_cast<uint8_t>(EncodeFloat(Format(kType), value))) {}
  explicit operator double() const { return DecodeFloat(Format(kType), bits); }
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }
};

}  // namespace assay
