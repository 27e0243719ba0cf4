// Functions that MPFR does not have, in its arithmetic: at the precision of the result but for a
// few of its last bits.
#pragma once

#include "conformance/accuracy/real.h"

namespace assay::accuracy {

void BesselI0e(mpfr_ptr result, mpfr_ptr x);       // e^-|x| I0(x)
void BesselI1e(mpfr_ptr result, mpfr_ptr x);       // e^-|x| I1(x)
void ErfInverse(mpfr_ptr result, mpfr_ptr x);      // |x| < 1, x not zero
void ErfcInverse(mpfr_ptr result, mpfr_ptr x);     // 0 < x < 2, x not one
void Erfcx(mpfr_ptr result, mpfr_ptr x);           // e^(x^2) erfc(x)
void NormalQuantile(mpfr_ptr result, mpfr_ptr x);  // 0 < x < 1, x not one half
void Sinc(mpfr_ptr result, mpfr_ptr x);            // sin(pi x) / (pi x), x not zero

}  // namespace assay::accuracy
