// Functions of f64 in double-double arithmetic: what the compiler's are judged by. Relative errors
// are below 2^-90, that is 2^-37 of an ulp of f64, but for the sine, cosine and tangent: below
// 2^-70 up to 2^30, and beyond, where they are the C library's in 80 bits, 2^-63.
#pragma once

#include "absl/types/span.h"

namespace assay {

// (high + low) 2^exponent, |low| at most half an ulp of `high`.
struct Precise {
  double high = 0, low = 0;
  int exponent = 0;
};

// These take finite arguments within the domain whose result is neither zero nor infinite.
Precise PreciseAtan2(double y, double x);
Precise PreciseCbrt(double x);
Precise PreciseCosine(double x);
Precise PreciseErf(double x);
Precise PreciseExp(double x);
Precise PreciseExpm1(double x);
Precise PreciseLog(double x);
Precise PreciseLog1p(double x);
Precise PreciseLogistic(double x);
Precise PrecisePower(double x, double y);  // x > 0
Precise PreciseRsqrt(double x);
Precise PreciseSine(double x);
Precise PreciseTan(double x);
Precise PreciseTanh(double x);

// |value - truth| in units of the last place of the truth, subnormal ones included; infinite if one
// of them is, rounded to f64, and the other is not. `value` is finite or infinite.
double UlpsFrom(double value, const Precise& truth);

// A function of f64 and its true values where those are numbers other than zero.
struct DoubleFunction {
  const char* op;
  double (*quick)(double);  // of the right class: zero, infinite, NaN or neither
  Precise (*truth)(double);
};
absl::Span<const DoubleFunction> DoubleFunctions();

}  // namespace assay
