// The true value of a function at an argument, as far as it is needed: f64 settles most, MPFR what
// it does not, and double-double arithmetic stands between them for results of f64.
#pragma once

#include "conformance/accuracy/double_double.h"
#include "conformance/accuracy/functions.h"
#include "spec/types/float_format.h"

namespace assay::accuracy {

// Rounds to the nearest value of a format, ties to even, overflow as the format says.
class Rounding {
 public:
  explicit Rounding(const FloatFormat& format) : format_(format) {}
  double operator()(double value) const {
    if (format_.type == ElementType::kF32) return static_cast<float>(value);
    if (format_.type == ElementType::kF64) return value;
    return DecodeFloat(format_, EncodeFloat(format_, value));
  }

 private:
  const FloatFormat& format_;
};

struct TrueValue {
  double nearest = 0;  // in the format
  Precise value;       // the truth: to 2^-49 of itself for formats below f64, else to 2^-90
};

class Truth {
 public:
  Truth(const TrueFunction& function, ElementType type);
  // `y` counts for functions of two arguments. Both are values of the arguments' format.
  TrueValue At(double x, double y);
  // At(x, y) where f64 settles it: what At would give with one comparison less. False: call At.
  bool Quickly(double x, double y, TrueValue& value) const;
  int64_t asked() const { return asked_; }  // so often MPFR

  const TrueFunction& function() const { return function_; }
  const FloatFormat& format() const { return format_; }

 private:
  TrueValue Exactly(double x, double y);

  const TrueFunction& function_;
  const FloatFormat& format_;
  Rounding round_;
  Precise (*precise_)(double) = nullptr;  // for results of f64
  int64_t asked_ = 0;
};

// The size of a unit in the last place, after JAX's page on accuracy: that of the true value's
// binade, no smaller than that of the smallest normal numbers, no larger than that of the largest.
class Units {
 public:
  explicit Units(const FloatFormat& format);
  // |result - truth| in units. Infinities stand one unit above the largest finite number. Where
  // `flushes`, or where the result is zero, the numbers between zero and the smallest normal one
  // are left out of the line. Neither is NaN.
  double Between(double result, const TrueValue& truth, bool flushes) const;
  double Of(double truth) const;  // the unit
  double min_normal() const { return min_normal_; }
  double max_finite() const { return max_finite_; }

 private:
  const FloatFormat& format_;
  int low_, high_;  // exponents
  double min_normal_, max_finite_;
};

}  // namespace assay::accuracy
