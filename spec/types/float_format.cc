// Encoding and decoding of the float formats, with one rounding to nearest even.
#include "spec/types/float_format.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

using enum ElementType;
using enum SpecialValues;

constexpr FloatFormat kFormats[] = {
    {kF16, 5, 10, 15, kIeee},           {kBF16, 8, 7, 127, kIeee},
    {kF32, 8, 23, 127, kIeee},          {kF64, 11, 52, 1023, kIeee},
    {kF8E5M2, 5, 2, 15, kIeee},         {kF8E4M3, 4, 3, 7, kIeee},
    {kF8E3M4, 3, 4, 3, kIeee},          {kF8E4M3FN, 4, 3, 7, kFn},
    {kF8E5M2FNUZ, 5, 2, 16, kFnuz},     {kF8E4M3FNUZ, 4, 3, 8, kFnuz},
    {kF8E4M3B11FNUZ, 4, 3, 11, kFnuz},  {kF4E2M1FN, 2, 1, 1, kFinite},
    {kF6E2M3FN, 2, 3, 1, kFinite},      {kF6E3M2FN, 3, 2, 3, kFinite},
    {kF8E8M0FNU, 8, 0, 127, kExponent},
};

constexpr std::array<int8_t, kElementTypeCount> kFormatIndex = [] {
  std::array<int8_t, kElementTypeCount> index{};
  for (auto& i : index) i = 2;  // f32, never asked for by a caller that keeps the contract
  for (size_t i = 0; i < std::size(kFormats); ++i)
    index[static_cast<int>(kFormats[i].type)] = static_cast<int8_t>(i);
  index[static_cast<int>(kC64)] = 2;
  index[static_cast<int>(kC128)] = 3;
  return index;
}();

// Largest code of a finite positive value.
uint64_t MaxFiniteCode(const FloatFormat& format) {
  uint64_t all = (uint64_t{1} << (format.exponent_bits + format.mantissa_bits)) - 1;
  switch (format.special) {
    case kIeee:
      return all - (uint64_t{1} << format.mantissa_bits);
    case kFn:
      return all - 1;
    case kExponent:
      return all - 1;
    case kFnuz:
    case kFinite:
      return all;
  }
  return all;
}

uint64_t SignBit(const FloatFormat& format) {
  return uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
}

// Code of the overflow of a finite value with the given sign.
uint64_t OverflowCode(const FloatFormat& format, bool negative) {
  uint64_t sign = negative && format.special != kExponent ? SignBit(format) : 0;
  switch (format.special) {
    case kIeee:
      return sign | (MaxFiniteCode(format) + 1);
    case kFinite:
      return sign | MaxFiniteCode(format);
    case kFn:
      return sign | (MaxFiniteCode(format) + 1);
    case kFnuz:
      return SignBit(format);
    case kExponent:
      return 0xFF;
  }
  return 0;
}

// Rounds significand * 2^exponent (significand > 0, `sticky` for lost lower bits) to the format,
// ties to even.
uint64_t RoundMagnitude(const FloatFormat& format, uint64_t significand, int exponent, bool sticky,
                        bool negative) {
  int top =
      63 - std::countl_zero(significand);  // value lies in [2^(exponent+top), 2^(exponent+top+1))
  int value_exponent = exponent + top;
  int min_exponent = 1 - format.bias;
  // Exponent of the last kept bit.
  int last = (value_exponent < min_exponent ? min_exponent : value_exponent) - format.mantissa_bits;
  int shift = last - exponent;
  uint64_t kept;
  if (shift <= 0) {
    kept = significand << -shift;
  } else if (shift > 64) {
    kept = 0;
  } else {
    uint64_t half = shift == 64 ? uint64_t{1} << 63 : uint64_t{1} << (shift - 1);
    uint64_t rest = shift == 64 ? significand : significand & ((half << 1) - 1);
    kept = shift == 64 ? 0 : significand >> shift;
    if (rest > half || (rest == half && (sticky || (kept & 1)))) ++kept;
  }
  if (kept == 0) {
    bool keep_sign = negative && format.HasNegativeZero();
    return keep_sign ? SignBit(format) : 0;
  }
  // `kept` has the hidden bit at position mantissa_bits for normal values; adding makes the carry
  // run into the exponent.
  int biased = value_exponent < min_exponent ? 1 : value_exponent + format.bias;
  if (biased >= (1 << (format.exponent_bits + 1))) return OverflowCode(format, negative);
  uint64_t code = kept + (static_cast<uint64_t>(biased - 1) << format.mantissa_bits);
  if (code > MaxFiniteCode(format)) return OverflowCode(format, negative);
  return code | (negative ? SignBit(format) : 0);
}

// f8e8m0fnu: the nearest power of two, a tie to the even code.
uint64_t EncodeExponentOnly(double value) {
  if (!(value > 0) || std::isinf(value)) return 0xFF;
  int e;
  double m = std::frexp(value, &e);  // m in [0.5, 1)
  int code = e - 1 + 127;
  if (m > 0.75 || (m == 0.75 && (code & 1))) ++code;
  if (code < 0) code = 0;
  return code > 254 ? 0xFF : static_cast<uint64_t>(code);
}

}  // namespace

const FloatFormat& Format(ElementType type) {
  return kFormats[kFormatIndex[static_cast<int>(type)]];
}

double FloatFormat::MaxFinite() const { return DecodeFloat(*this, MaxFiniteCode(*this)); }
double FloatFormat::MinNormal() const {
  return special == kExponent ? std::ldexp(1.0, -bias) : std::ldexp(1.0, 1 - bias);
}
double FloatFormat::MinSubnormal() const {
  return special == kExponent ? std::ldexp(1.0, -bias) : std::ldexp(1.0, 1 - bias - mantissa_bits);
}

bool IsNanCode(const FloatFormat& format, uint64_t code) {
  uint64_t magnitude = code & (SignBit(format) - 1);
  switch (format.special) {
    case kIeee:
      return magnitude > MaxFiniteCode(format) + 1;
    case kFn:
      return magnitude == MaxFiniteCode(format) + 1;
    case kFnuz:
      return code == SignBit(format);
    case kFinite:
      return false;
    case kExponent:
      return code == 0xFF;
  }
  return false;
}

uint64_t QuietNan(const FloatFormat& format, bool negative) {
  switch (format.special) {
    case kIeee:
      return (negative ? SignBit(format) : 0) | (MaxFiniteCode(format) + 1) |
             (uint64_t{1} << (format.mantissa_bits - 1));
    case kFn:
      return (negative ? SignBit(format) : 0) | (MaxFiniteCode(format) + 1);
    case kFnuz:
      return SignBit(format);
    case kFinite:
      return 0;
    case kExponent:
      return 0xFF;
  }
  return 0;
}

double DecodeFloat(const FloatFormat& format, uint64_t code) {
  if (format.type == kF64) return std::bit_cast<double>(code);
  if (format.type == kF32) {
    // By hand, so that a signalling NaN keeps its payload.
    float value = std::bit_cast<float>(static_cast<uint32_t>(code));
    if (value == value) return value;
    return std::bit_cast<double>((code & 0x80000000u) << 32 | uint64_t{0x7FF} << 52 |
                                 (code & 0x7FFFFF) << 29);
  }
  if (format.special == kExponent)
    return code == 0xFF ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - format.bias);
  bool negative = (code & SignBit(format)) != 0;
  if (IsNanCode(format, code))
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  uint64_t magnitude = code & (SignBit(format) - 1);
  double value;
  if (format.special == kIeee && magnitude == MaxFiniteCode(format) + 1) {
    value = std::numeric_limits<double>::infinity();
  } else {
    int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    uint64_t mantissa = magnitude & ((uint64_t{1} << format.mantissa_bits) - 1);
    if (exponent != 0) mantissa |= uint64_t{1} << format.mantissa_bits;
    value = std::ldexp(static_cast<double>(mantissa),
                       (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

uint64_t EncodeFloat(const FloatFormat& format, double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (format.type == kF64) return bits;
  bool negative = (bits >> 63) != 0;
  if (std::isnan(value)) return format.HasNan() ? QuietNan(format, negative) : 0;
  if (format.type == kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (format.special == kExponent) return EncodeExponentOnly(value);
  if (std::isinf(value)) return OverflowCode(format, negative);
  uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  if (magnitude == 0) return negative && format.HasNegativeZero() ? SignBit(format) : 0;
  int exponent = static_cast<int>(magnitude >> 52);
  uint64_t significand = magnitude & ((uint64_t{1} << 52) - 1);
  if (exponent != 0) significand |= uint64_t{1} << 52;
  return RoundMagnitude(format, significand, (exponent == 0 ? 1 : exponent) - 1075, false,
                        negative);
}

uint64_t EncodeInteger(const FloatFormat& format, uint64_t magnitude, bool negative) {
  if (magnitude == 0) return format.special == kExponent ? 0xFF : 0;
  if (format.special == kExponent) {
    // Within one part in 2^53 of a tie only when it is one, except for magnitudes that double
    // cannot hold.
    double rounded = static_cast<double>(magnitude);
    return EncodeExponentOnly(negative ? -rounded : rounded);
  }
  return RoundMagnitude(format, magnitude, 0, false, negative);
}

int64_t Ordinal(const FloatFormat& format, uint64_t code) {
  if (format.special == kExponent) return static_cast<int64_t>(code) + 1;
  int64_t magnitude = static_cast<int64_t>(code & (SignBit(format) - 1));
  return (code & SignBit(format)) != 0 ? -magnitude : magnitude;
}

int64_t UlpDistance(const FloatFormat& format, uint64_t a, uint64_t b) {
  bool a_nan = IsNanCode(format, a), b_nan = IsNanCode(format, b);
  if (a_nan && b_nan) return 0;
  if (a_nan != b_nan) return std::numeric_limits<int64_t>::max();
  int64_t x = Ordinal(format, a), y = Ordinal(format, b);
  uint64_t distance = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                            : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
  return distance > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
             ? std::numeric_limits<int64_t>::max()
             : static_cast<int64_t>(distance);
}

Half::Half(double value) : bits(static_cast<uint16_t>(EncodeFloat(Format(kF16), value))) {}

Half::operator double() const {
  // Widening by bit moves is several times faster than the general decoder and this sits in typed
  // loops.
  uint32_t sign = (bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  uint32_t wide =
      exponent == 31 ? 0x7F800000u | mantissa << 13 : ((exponent + 112) << 23) | mantissa << 13;
  return std::bit_cast<float>(sign | wide);
}

BFloat16::BFloat16(double value) {
  // The float nearest to `value` rounded to odd keeps enough to round once more without a double
  // rounding.
  float nearest = static_cast<float>(value);
  uint32_t code = std::bit_cast<uint32_t>(nearest);
  if (nearest != nearest) {
    bits = static_cast<uint16_t>(std::signbit(value) ? 0xFFC0 : 0x7FC0);
    return;
  }
  if (static_cast<double>(nearest) != value && (code & 1) == 0) {
    // Move to the odd neighbour on the side of `value`.
    bool away = std::fabs(value) > std::fabs(static_cast<double>(nearest));
    if (std::isinf(nearest)) {
      code = std::bit_cast<uint32_t>(std::numeric_limits<float>::max()) | (code & 0x80000000u);
    } else if (away) {
      code += 1;
    } else {
      code -= 1;
    }
  }
  code += 0x7FFF + ((code >> 16) & 1);
  bits = static_cast<uint16_t>(code >> 16);
}

}  // namespace assay
