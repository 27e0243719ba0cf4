// Functions of f64 on single doubles: the formulas, and those that are made of them. Included by
// one file per kind of machine, the GPU among them: all that depends on the compiler's flags has no
// name outside of it. All give the same bits on every machine.
#pragma once

#include <bit>
#include <cstdint>

#include "optimized/runtime/functions/far_angle.h"
#include "optimized/runtime/functions/formulas.h"

namespace assay {
namespace {

double OfFar(const char* function, double x);

// The operations that formulas are written in, on one double.
struct Scalars {
  using Number = double;
  using Integer = uint64_t;
  using Truth = bool;

  double Of(double value) { return value; }
  uint64_t Int(uint64_t value) { return value; }
  double Add(double x, double y) { return x + y; }
  double Sub(double x, double y) { return x - y; }
  double Mul(double x, double y) { return x * y; }
  double Div(double x, double y) { return x / y; }
  double MulAdd(double x, double y, double z) { return __builtin_fma(x, y, z); }
  double Abs(double x) { return __builtin_fabs(x); }
  double Negate(double x) { return -x; }
  double Floor(double x) { return __builtin_floor(x); }
  double WithSignOf(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
  uint64_t Bits(double x) { return std::bit_cast<uint64_t>(x); }
  double FromBits(uint64_t x) { return std::bit_cast<double>(x); }
  template <typename T>
  T Select(bool condition, T x, T y) {
    return condition ? x : y;
  }
  uint64_t Plus(uint64_t x, uint64_t y) { return x + y; }
  uint64_t Minus(uint64_t x, uint64_t y) { return x - y; }
  uint64_t And(uint64_t x, uint64_t y) { return x & y; }
  uint64_t Or(uint64_t x, uint64_t y) { return x | y; }
  uint64_t Xor(uint64_t x, uint64_t y) { return x ^ y; }
  uint64_t ShiftLeft(uint64_t x, int by) { return x << by; }
  uint64_t ShiftRight(uint64_t x, int by) { return x >> by; }
  double PowerOfTwo(uint64_t k) { return FromBits((k + 1023) << 52); }
  bool Less(double x, double y) { return x < y; }
  bool Equal(double x, double y) { return x == y; }
  bool IsSet(uint64_t x) { return x != 0; }
  bool Both(bool x, bool y) { return x && y; }
  bool Either(bool x, bool y) { return x || y; }
  bool Same(bool x, bool y) { return x == y; }
  bool Not(bool x) { return !x; }
  bool Takes(const char*) { return false; }

  double Library(const char* function, bool far, double x, double result) {
    return far ? OfFar(function, x) : result;
  }
};

using OnDoubles = Formulas<Scalars>;

template <double (OnDoubles::*kFormula)(double)>
double OfOne(double x) {
  Scalars scalars;
  OnDoubles formulas(scalars);
  return (formulas.*kFormula)(x);
}

// Takes an argument too large for the formulas. The first letter names the function: sin, cos, tan.
inline double OfFar(const char* function, double x) {
  if (!(__builtin_fabs(x) < std::numeric_limits<double>::infinity())) return x - x;
  const FarAngle angle = ReduceFar(x);
  Scalars scalars;
  OnDoubles formulas(scalars);
  if (function[0] == 't') return formulas.TanAt(angle.quarter, angle.r, angle.low);
  return formulas.SineAt(angle.quarter + (function[0] == 'c' ? 1 : 0), angle.r, angle.low);
}

inline double Exp(double x) { return OfOne<&OnDoubles::Exp>(x); }
inline double Expm1(double x) { return OfOne<&OnDoubles::Expm1>(x); }
inline double Log(double x) { return OfOne<&OnDoubles::Log>(x); }
inline double Log1p(double x) { return OfOne<&OnDoubles::Log1p>(x); }
inline double Sqrt(double x) { return __builtin_sqrt(x); }
inline double Tan(double x) { return OfOne<&OnDoubles::Tan>(x); }
inline double Cbrt(double x) { return OfOne<&OnDoubles::Cbrt>(x); }
inline double Atan2(double y, double x) {
  Scalars scalars;
  return OnDoubles(scalars).Atan2(y, x);
}
inline void SineAndCosine(double x, double& sine, double& cosine) {
  sine = OfOne<&OnDoubles::Sine>(x);
  cosine = OfOne<&OnDoubles::Cosine>(x);
}
inline double High(double x) { return x; }

// 2^exponent x; in several steps where one factor is no number.
inline double TimesPower(double x, int exponent) {
  const auto power = [](int k) {
    return std::bit_cast<double>(static_cast<uint64_t>(k + 1023) << 52);
  };
  for (; exponent > 1000; exponent -= 1000) x *= power(1000);
  for (; exponent < -1000; exponent += 1000) x *= power(-1000);
  return x * power(exponent);
}

inline double Asin(double x) { return Atan2(x, Sqrt((1 - x) * (1 + x))); }
inline double Acos(double x) { return Atan2(Sqrt((1 - x) * (1 + x)), x); }

constexpr double kLogOfTwo = 0.6931471805599453;
constexpr double kManyTimesOne = 0x1p28;  // its square plus one is its square

inline double Acosh(double x) {
  if (x < 1) return std::numeric_limits<double>::quiet_NaN();
  if (x > kManyTimesOne) return Log(x) + kLogOfTwo;
  const double t = x - 1;
  return Log1p(t + Sqrt(t + t + t * t));
}
inline double Asinh(double x) {
  const double a = __builtin_fabs(x);
  if (a < 1 / kManyTimesOne) return x;
  const double square = a * a;
  const double size =
      a > kManyTimesOne ? Log(a) + kLogOfTwo : Log1p(a + square / (1 + Sqrt(1 + square)));
  return __builtin_copysign(size, x);
}
inline double Atanh(double x) {
  const double a = __builtin_fabs(x);
  if (a < 1 / kManyTimesOne) return x;
  return __builtin_copysign(Log1p((a + a) / (1 - a)) / 2, x);
}

constexpr double kNoExponent = 22;  // from here on e^-x is less than half an ulp of e^x

// e^a / 2, a large; e^a may be infinite.
inline double HalfExp(double a) {
  const double root = Exp(a / 2);
  return root / 2 * root;
}
inline double Cosh(double x) {
  const double a = __builtin_fabs(x);
  if (a > kNoExponent) return HalfExp(a);
  const double power = Exp(a);
  return power / 2 + 0.5 / power;
}
inline double Sinh(double x) {
  const double a = __builtin_fabs(x);
  if (a < 1 / kManyTimesOne) return x;
  if (a > kNoExponent) return __builtin_copysign(HalfExp(a), x);
  const double power = Expm1(a);
  return __builtin_copysign((power + power / (power + 1)) / 2, x);
}

}  // namespace
}  // namespace assay
