// Numbers that the host has no type for: half precision, bfloat16, 128 bits. Written without
// branches where lanes are to be computed side by side. Everything has internal linkage: it is
// compiled for several instruction sets.
#pragma once

#include <cstdint>
#include <cstring>

namespace assay::gpu {
namespace {

using U128 = unsigned __int128;
using S128 = __int128;

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

template <class To, class From>
inline To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline float ToFloat(Half half) {
  const uint32_t magnitude = uint32_t{half.bits} << 13 & 0x0fffe000u;
  // The exponents' bias differs by 112; this also makes subnormal numbers right.
  const float scaled = BitsAs<float>(magnitude) * 0x1p112f;
  const uint32_t special = (half.bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  const uint32_t quiet = (half.bits & 0x7fffu) > 0x7c00u ? 0x00400000u : 0u;
  return BitsAs<float>(BitsAs<uint32_t>(scaled) | special | quiet |
                       (uint32_t{half.bits} & 0x8000u) << 16);
}

inline Half ToHalf(float value) {
  const uint32_t bits = BitsAs<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t tiny = BitsAs<uint32_t>(BitsAs<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13;
  const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
  uint32_t half = magnitude < 0x38800000u ? tiny : normal;
  half = magnitude >= 0x47800000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? nan : half;
  return {static_cast<uint16_t>(half | (bits >> 16 & 0x8000u))};
}

inline float ToFloat(Brain brain) { return BitsAs<float>(uint32_t{brain.bits} << 16); }

inline Brain ToBrain(float value) {
  const uint32_t bits = BitsAs<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  const uint32_t nan = bits >> 16 | 0x40u;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

// Rounded to odd: a second rounding to fewer bits gives what one rounding would.
inline float OddFloat(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  uint32_t bits = BitsAs<uint32_t>(nearest);
  const bool is_exact = back == value || value != value;
  const bool is_larger = __builtin_fabs(back) > __builtin_fabs(value);
  bits -= !is_exact && is_larger ? 1 : 0;
  bits |= is_exact ? 0 : 1;
  return BitsAs<float>(bits);
}

// a * b + c of numbers whose product is exact in double, rounded to odd.
inline double OddFma(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  uint64_t bits = BitsAs<uint64_t>(sum);
  const bool matters = error == error && error != 0 && (bits & 1) == 0;
  const bool is_smaller = (error < 0) != (sum < 0);  // the true sum is nearer to zero
  bits += matters ? (is_smaller ? ~uint64_t{0} : uint64_t{1}) : 0;
  return BitsAs<double>(bits);
}

inline double OddDouble(U128 value) {
  int shift = 0;
  while (value >> 53 != 0) {
    value = value >> 1 | (value & 1);
    ++shift;
  }
  return __builtin_ldexp(static_cast<double>(static_cast<uint64_t>(value)), shift);
}

inline float AsFloat(Half value) { return ToFloat(value); }
inline float AsFloat(Brain value) { return ToFloat(value); }
inline float AsFloat(float value) { return value; }
inline double AsFloat(double value) { return value; }

template <class T>
struct FromFloat;
template <>
struct FromFloat<Half> {
  static Half Of(float value) { return ToHalf(value); }
  static Half Of(double value) { return ToHalf(OddFloat(value)); }
};
template <>
struct FromFloat<Brain> {
  static Brain Of(float value) { return ToBrain(value); }
  static Brain Of(double value) { return ToBrain(OddFloat(value)); }
};
template <>
struct FromFloat<float> {
  static float Of(float value) { return value; }
  static float Of(double value) { return static_cast<float>(value); }
};
template <>
struct FromFloat<double> {
  static double Of(double value) { return value; }
};

template <class T>
struct SignedOf;
template <>
struct SignedOf<uint8_t> {
  using Type = int8_t;
};
template <>
struct SignedOf<uint16_t> {
  using Type = int16_t;
};
template <>
struct SignedOf<uint32_t> {
  using Type = int32_t;
};
template <>
struct SignedOf<uint64_t> {
  using Type = int64_t;
};
template <>
struct SignedOf<U128> {
  using Type = S128;
};
template <class T>
using Signed = typename SignedOf<T>::Type;

}  // namespace
}  // namespace assay::gpu
