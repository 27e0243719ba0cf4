// Numbers in two doubles, about 106 bits, and their functions: what functions of c128 are computed
// in, as functions of c64 are in doubles. Document: Dekker, A floating-point technique for
// extending the available precision (1971).
#pragma once

#include "optimized/runtime/functions/scalar_functions.h"

namespace assay {
namespace {

struct Twofold {
  double high = 0, low = 0;
  Twofold() = default;
  Twofold(double value) : high(value) {}  // NOLINT: a double is one
  Twofold(double h, double l) : high(h), low(l) {}
  // A low part of zero would make +0 of -0.
  explicit operator double() const {
    return low != 0 && __builtin_isfinite(high) ? high + low : high;
  }
};

// An infinity has no low part: one would be a NaN.
inline Twofold Of(double high, double low) { return {high, __builtin_isfinite(high) ? low : 0}; }

// |x| >= |y|, or x = 0. A y of zero leaves x as it is, the sign of a zero included.
inline Twofold QuickSum(double x, double y) {
  if (y == 0) return {x, 0};
  const double sum = x + y;
  return Of(sum, y - (sum - x));
}
inline Twofold SumOf(double x, double y) {
  const double sum = x + y, part = sum - x;
  return Of(sum, (x - (sum - part)) + (y - part));
}
inline Twofold ProductOf(double x, double y) {
  const double product = x * y;
  return Of(product, __builtin_fma(x, y, -product));
}

inline Twofold operator-(Twofold x) { return {-x.high, -x.low}; }
inline Twofold operator+(Twofold x, Twofold y) {
  const Twofold high = SumOf(x.high, y.high), low = SumOf(x.low, y.low);
  const Twofold sum = QuickSum(high.high, high.low + low.high);
  return QuickSum(sum.high, sum.low + low.low);
}
inline Twofold operator-(Twofold x, Twofold y) { return x + -y; }
inline Twofold operator*(Twofold x, Twofold y) {
  const Twofold product = ProductOf(x.high, y.high);
  return QuickSum(product.high, product.low + (x.high * y.low + x.low * y.high));
}
inline Twofold operator/(Twofold x, Twofold y) {
  const double first = x.high / y.high;
  Twofold rest = x - y * first;
  const double second = rest.high / y.high;
  rest = rest - y * second;
  const Twofold sum = QuickSum(first, second);
  return QuickSum(sum.high, sum.low + rest.high / y.high);
}
inline bool operator<(Twofold x, Twofold y) {
  return x.high < y.high || (x.high == y.high && x.low < y.low);
}

inline double High(Twofold x) { return x.high; }
inline Twofold TimesPower(Twofold x, int exponent) {
  return {TimesPower(x.high, exponent), TimesPower(x.low, exponent)};
}

inline Twofold Sqrt(Twofold x) {
  const double root = __builtin_sqrt(x.high);
  if (!(root > 0) || !__builtin_isfinite(root)) return root;
  return QuickSum(root, (x - ProductOf(root, root)).high / (root + root));
}

// e^x - 1 of |x| <= ln 2 / 2: the 256th part by a series, then doubled by (1 + p)^2 - 1.
inline Twofold Expm1OfSmall(Twofold x) {
  const Twofold r = TimesPower(x, -8);
  Twofold sum = r, term = r;
  for (int k = 2; k <= 10; ++k) {
    term = term * r / Twofold(k);
    sum = sum + term;
  }
  for (int k = 0; k < 8; ++k) sum = TimesPower(sum, 1) + sum * sum;
  return sum;
}

constexpr double kLog2High = 0x1.62e42fefa39efp-1, kLog2Low = 0x1.abc9e3b39803fp-56;

inline Twofold Exp(Twofold x) {
  if (!(x.high > -746 && x.high < 710)) return Exp(x.high);
  const double k = __builtin_floor(x.high * 1.4426950408889634 + 0.5);
  const Twofold power = Expm1OfSmall(x - Twofold(kLog2High, kLog2Low) * k) + 1.0;
  return TimesPower(power, static_cast<int>(k));
}
inline Twofold Expm1(Twofold x) {
  if (x.high > -0.34 && x.high < 0.34) return Expm1OfSmall(x);
  return Exp(x) - 1.0;
}

// One step from the logarithm in doubles, which triples its digits.
inline Twofold Log(Twofold x) {
  const double guess = Log(x.high);
  if (!__builtin_isfinite(guess)) return guess;
  const Twofold power = Exp(Twofold(guess));
  return Twofold(guess) + Twofold(2) * ((x - power) / (x + power));
}
inline Twofold Log1p(Twofold x) {
  const double guess = Log1p(x.high);
  if (!__builtin_isfinite(guess) || guess == 0) return guess;
  const Twofold power = Expm1(Twofold(guess));
  return Twofold(guess) + Twofold(2) * ((x - power) / (x + power + 2.0));
}

// `x` is a double where it is beyond 2^30.
inline void SineAndCosine(Twofold x, Twofold& sine, Twofold& cosine) {
  if (!__builtin_isfinite(x.high)) {
    sine = cosine = x.high - x.high;
    return;
  }
  Twofold r = x;
  uint64_t quarter = 0;
  if (__builtin_fabs(x.high) > 0x1p30) {
    const FarAngle angle = ReduceFar(x.high);
    quarter = angle.quarter;
    r = {angle.r, angle.low};
  } else {
    const double k = __builtin_floor(x.high * 0.6366197723675814 + 0.5);
    quarter = static_cast<uint64_t>(static_cast<int64_t>(k));
    constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                  -0x1.f1976b7ed8fbcp-110};
    for (double part : kHalfPi) r = r - ProductOf(part, k);
  }
  const Twofold square = r * r;
  Twofold s = r, c = 1.0, term_s = r, term_c = 1.0;
  for (int k = 1; k <= 14; ++k) {
    term_c = -(term_c * square / Twofold((2 * k - 1) * (2 * k)));
    c = c + term_c;
    term_s = -(term_s * square / Twofold((2 * k) * (2 * k + 1)));
    s = s + term_s;
  }
  const bool is_odd = (quarter & 1) != 0;
  sine = is_odd ? c : s;
  cosine = is_odd ? -s : c;
  if ((quarter & 2) != 0) {
    sine = -sine;
    cosine = -cosine;
  }
  if (x.high == 0) sine = x;  // -0 stays
}

// The angle in doubles is off by so little that it and its tangent are one.
inline Twofold Atan2(Twofold y, Twofold x) {
  const double guess = Atan2(y.high, x.high);
  if (!__builtin_isfinite(x.high) || !__builtin_isfinite(y.high) || y.high == 0) return guess;
  // The squares of the largest numbers, and the low parts of the smallest, are none.
  const double a = __builtin_fabs(x.high), b = __builtin_fabs(y.high), size = a < b ? b : a;
  const int shift = size > 0x1p900 ? -200 : size < 0x1p-800 ? 200 : 0;
  x = TimesPower(x, shift);
  y = TimesPower(y, shift);
  Twofold sine, cosine;
  SineAndCosine(guess, sine, cosine);
  return Twofold(guess) + (y * cosine - x * sine) / (x * cosine + y * sine);
}

}  // namespace
}  // namespace assay
