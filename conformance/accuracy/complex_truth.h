// True values of complex functions by MPFR, and how far a result is from them: the error is that of
// the whole number, in ulps of its larger part, since that is what the documents bound.
#pragma once

#include <string_view>

#include "conformance/accuracy/errors.h"
#include "conformance/accuracy/real.h"

namespace assay::accuracy {

struct Parts {
  double re = 0, im = 0;
};

struct ComplexFunction {
  std::string_view name;
  int arity = 1;
  bool is_real = false;  // the result is
  // x and y: two numbers each, the result likewise; all of one precision that is large enough for
  // what cancels.
  void (*exact)(mpfr_ptr const* result, mpfr_ptr const* x, mpfr_ptr const* y);
};

const ComplexFunction* FindComplexFunction(std::string_view name);

// Counts the errors of results on finite arguments: those whose true parts are finite and not zero
// together. Infinities and NaN among arguments are left to the suites of special values.
class ComplexCounter {
 public:
  ComplexCounter(const ComplexFunction& function, ElementType type);
  void Add(Parts x, Parts y, Parts got);
  Errors Take() { return errors_; }

 private:
  const ComplexFunction& function_;
  const FloatFormat& format_;
  Rounding round_;
  Units units_;
  Errors errors_;
};

}  // namespace assay::accuracy
