// The formulas of f64 on doubles. Included by one file per kind of machine: all that depends on the
// compiler's flags has no name outside of it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "optimized/runtime/functions/formulas.h"
#include "optimized/runtime/symbols.h"

namespace assay {
namespace {

// Takes arguments too large for the formulas, in 80 bits: the C library's function of doubles is
// eight units off where 6381956970095103 2^797 is reduced.
template <long double (*kFunction)(long double)>
double OfFar(double x) {
  return static_cast<double>(kFunction(x));
}

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
    if (!far) return result;
    if (std::strcmp(function, "sin") == 0) return OfFar<::sinl>(x);
    return std::strcmp(function, "cos") == 0 ? OfFar<::cosl>(x) : OfFar<::tanl>(x);
  }
};

using OnDoubles = Formulas<Scalars>;

template <double (OnDoubles::*kFormula)(double)>
void OfOne(double* values, int64_t count) {
  Scalars scalars;
  OnDoubles formulas(scalars);
  for (int64_t i = 0; i < count; ++i) values[i] = (formulas.*kFormula)(values[i]);
}

template <long double (*kFunction)(long double)>
void OfFarLanes(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = OfFar<kFunction>(values[i]);
}

template <double (OnDoubles::*kFormula)(double, double)>
void OfTwo(double* x, const double* y, int64_t count) {
  Scalars scalars;
  OnDoubles formulas(scalars);
  for (int64_t i = 0; i < count; ++i) x[i] = (formulas.*kFormula)(x[i], y[i]);
}

// A complex number, as compiled code returns it.
struct Parts {
  double re, im;
};

// e^re (cos im + i sin im) of c128. In 80 bits where a part is special, e^re is no normal number
// far from the ends, or the angle is huge.
Parts ComplexExp(double re, double im) {
  if (std::fabs(re) < 690 && std::fabs(im) < 0x1p30) {
    Scalars scalars;
    OnDoubles formulas(scalars);
    const double size = formulas.Exp(re);
    return {size * formulas.Cosine(im), size * formulas.Sine(im)};
  }
  __complex__ long double value = re;
  __imag__ value = im;
  value = __builtin_cexpl(value);
  return {static_cast<double>(__real__ value), static_cast<double>(__imag__ value)};
}

template <auto kFunction>
void* Address() {
  return reinterpret_cast<void*>(kFunction);
}

// Made when it is first asked for: a machine that cannot run this code never does.
absl::Span<const RuntimeSymbol> Table() {
  static const RuntimeSymbol kTable[] = {
      {"assay_complex_exponential_c128", Address<ComplexExp>()},
      {"assay_lanes_atan2", Address<OfTwo<&OnDoubles::Atan2>>()},
      {"assay_lanes_cbrt", Address<OfOne<&OnDoubles::Cbrt>>()},
      {"assay_lanes_cos", Address<OfOne<&OnDoubles::Cosine>>()},
      {"assay_lanes_erf", Address<OfOne<&OnDoubles::Erf>>()},
      {"assay_lanes_exp", Address<OfOne<&OnDoubles::Exp>>()},
      {"assay_lanes_expm1", Address<OfOne<&OnDoubles::Expm1>>()},
      {"assay_lanes_far_cos", Address<OfFarLanes<::cosl>>()},
      {"assay_lanes_far_sin", Address<OfFarLanes<::sinl>>()},
      {"assay_lanes_far_tan", Address<OfFarLanes<::tanl>>()},
      {"assay_lanes_log", Address<OfOne<&OnDoubles::Log>>()},
      {"assay_lanes_log1p", Address<OfOne<&OnDoubles::Log1p>>()},
      {"assay_lanes_logistic", Address<OfOne<&OnDoubles::Logistic>>()},
      {"assay_lanes_pow", Address<OfTwo<&OnDoubles::Power>>()},
      {"assay_lanes_sin", Address<OfOne<&OnDoubles::Sine>>()},
      {"assay_lanes_tan", Address<OfOne<&OnDoubles::Tan>>()},
      {"assay_lanes_tanh", Address<OfOne<&OnDoubles::Tanh>>()},
  };
  return kTable;
}

}  // namespace
}  // namespace assay
