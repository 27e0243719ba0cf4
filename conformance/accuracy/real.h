// A number of MPFR that frees itself.
#pragma once

#include <mpfr.h>

namespace assay::accuracy {

class Real {
 public:
  explicit Real(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
  Real(mpfr_prec_t bits, double x) : Real(bits) { mpfr_set_d(value_, x, MPFR_RNDN); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }
  // So that a Real stands where MPFR takes a number.
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

}  // namespace assay::accuracy
