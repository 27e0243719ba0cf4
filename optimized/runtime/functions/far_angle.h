// Angles too large for a reduction by parts of pi / 2: the bits of 2 / pi that matter for one
// number are multiplied with it as integers. Document: Payne and Hanek, Radian reduction for
// trigonometric functions (1983).
#pragma once

#include <bit>
#include <cstdint>

namespace assay {
namespace {

// x = (4 k + quarter) pi / 2 + r + low, |r| <= pi / 4, to about 2^-100 of r.
struct FarAngle {
  uint64_t quarter;
  double r, low;
};

// 2 / pi behind 64 zeros, the leading bits first.
inline constexpr uint64_t kTwoOverPi[] = {0,
                                          0xA2F9836E4E441529,
                                          0xFC2757D1F534DDC0,
                                          0xDB6295993C439041,
                                          0xFE5163ABDEBBC561,
                                          0xB7246E3A424DD2E0,
                                          0x06492EEA09D1921C,
                                          0xFE1DEB1CB129A73E,
                                          0xE88235F52EBB4484,
                                          0xE99C7026B45F7E41,
                                          0x3991D639835339F4,
                                          0x9C845F8BBDF9283B,
                                          0x1FF897FFDE05980F,
                                          0xEF2F118B5A0A6D1F,
                                          0x6D367ECF27CB09B7,
                                          0x4F463F669E5FEA2D,
                                          0x7527BAC7EBE5F17B,
                                          0x3D0739F78A5292EA,
                                          0x6BFB5FB11F8D5D08,
                                          0x56033046FC7B6BAB,
                                          0xF0CFBC209AF4361D,
                                          0xA9E391615EE61B08};

// The numbers of a binary point behind `exponent` bits, as doubles without rounding.
inline double Scaled(uint64_t below_2_to_53, int exponent) {
  return static_cast<double>(below_2_to_53) *
         std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// f pi / 2 of the fraction f = 0.fraction[0] fraction[1] ..., in two parts.
inline FarAngle OfFraction(uint64_t quarter, const uint64_t* fraction, bool is_negative) {
  constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
  uint64_t word[3] = {fraction[0], fraction[1], fraction[2]};
  int shift = 0;
  if (word[0] == 0) {  // no double is so close to a multiple that more than this is gone
    shift = 64;
    word[0] = word[1];
    word[1] = word[2];
    word[2] = 0;
  }
  const int zeros = std::countl_zero(word[0] | 1);
  if (zeros > 0) {
    word[0] = word[0] << zeros | word[1] >> (64 - zeros);
    word[1] = word[1] << zeros | word[2] >> (64 - zeros);
    shift += zeros;
  }
  const double first = Scaled(word[0] >> 11, -53 - shift);
  const double second = Scaled((word[0] & 0x7FF) << 42 | word[1] >> 22, -106 - shift);
  const double high = first * kHalfPi;
  const double low = __builtin_fma(first, kHalfPi, -high) + (first * kHalfPiLow + second * kHalfPi);
  const double r = high + low, rest = (high - r) + low;
  return is_negative ? FarAngle{quarter, -r, -rest} : FarAngle{quarter, r, rest};
}

// |x| from 2^-20 on, finite.
inline FarAngle ReduceFar(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1075;
  const uint64_t significand = (bits & 0xFFFFFFFFFFFFF) | uint64_t{1} << 52;
  // Bits of x 2 / pi that are multiples of 4 do not count: the first that does is worth 2.
  const int skipped = exponent - 2 + 64, first = skipped / 64, offset = skipped % 64;
  uint64_t product[4];
  uint64_t carry = 0;
  for (int k = 3; k >= 0; --k) {
    uint64_t word = kTwoOverPi[first + k] << offset;
    if (offset != 0) word |= kTwoOverPi[first + k + 1] >> (64 - offset);
    const unsigned __int128 wide = (unsigned __int128){word} * significand + carry;
    product[k] = static_cast<uint64_t>(wide);
    carry = static_cast<uint64_t>(wide >> 64);
  }
  uint64_t quarter = product[0] >> 62;
  uint64_t fraction[4];
  for (int k = 0; k < 4; ++k) {
    fraction[k] = product[k] << 2 | (k < 3 ? product[k + 1] >> 62 : 0);
  }
  const bool is_more = fraction[0] >> 63 != 0;  // nearer to the next quarter
  if (is_more) {
    ++quarter;
    for (uint64_t& word : fraction) word = ~word;
  }
  const bool is_negative = x < 0;
  return OfFraction(is_negative ? 0 - quarter : quarter, fraction, is_more != is_negative);
}

}  // namespace
}  // namespace assay
