// Series and Newton steps at twice the precision that is asked for.
#include "conformance/accuracy/special_functions.h"

#include <cmath>

namespace assay::accuracy {
namespace {

mpfr_prec_t Wide(mpfr_ptr result) { return 2 * mpfr_get_prec(result) + 64; }

// Sum of (x^2/4)^k / (k! (k + order)!) times (x/2)^order, whose terms are all of one sign.
void BesselSeries(mpfr_ptr sum, mpfr_ptr x, unsigned order) {
  const mpfr_prec_t bits = mpfr_get_prec(sum);
  Real quarter(bits), term(bits, 1);
  mpfr_sqr(quarter, x, MPFR_RNDN);
  mpfr_div_2ui(quarter, quarter, 2, MPFR_RNDN);
  if (order == 1) mpfr_div_2ui(term, x, 1, MPFR_RNDN);
  mpfr_set(sum, term, MPFR_RNDN);
  for (unsigned k = 1; k < 100000; ++k) {
    mpfr_mul(term, term, quarter, MPFR_RNDN);
    mpfr_div_ui(term, term, k, MPFR_RNDN);
    mpfr_div_ui(term, term, k + order, MPFR_RNDN);
    if (mpfr_zero_p(term) || mpfr_get_exp(term) < mpfr_get_exp(sum) - bits) return;
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
}

// The asymptotic series of e^-x I(x) for x > 400, where its smallest term is below e^-800.
void BesselFar(mpfr_ptr sum, mpfr_ptr x, unsigned order) {
  const mpfr_prec_t bits = mpfr_get_prec(sum);
  Real term(bits, 1), eight(bits);
  mpfr_mul_ui(eight, x, 8, MPFR_RNDN);
  mpfr_set_ui(sum, 1, MPFR_RNDN);
  const long mu = 4L * order * order;
  for (long k = 1; k < 400; ++k) {
    mpfr_mul_si(term, term, -(mu - (2 * k - 1) * (2 * k - 1)), MPFR_RNDN);
    mpfr_div(term, term, eight, MPFR_RNDN);
    mpfr_div_si(term, term, k, MPFR_RNDN);
    if (mpfr_zero_p(term) || mpfr_get_exp(term) < mpfr_get_exp(sum) - bits) break;
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  Real root(bits);
  mpfr_const_pi(root, MPFR_RNDN);
  mpfr_mul(root, root, x, MPFR_RNDN);
  mpfr_mul_ui(root, root, 2, MPFR_RNDN);
  mpfr_sqrt(root, root, MPFR_RNDN);
  mpfr_div(sum, sum, root, MPFR_RNDN);
}

void Bessel(mpfr_ptr result, mpfr_ptr x, unsigned order) {
  const mpfr_prec_t bits = Wide(result);
  Real magnitude(bits), value(bits), scale(bits);
  mpfr_abs(magnitude, x, MPFR_RNDN);
  if (mpfr_cmp_ui(magnitude, 400) > 0) {
    BesselFar(value, magnitude, order);
  } else {
    BesselSeries(value, magnitude, order);
    mpfr_neg(scale, magnitude, MPFR_RNDN);
    mpfr_exp(scale, scale, MPFR_RNDN);
    mpfr_mul(value, value, scale, MPFR_RNDN);
  }
  if (order == 1 && mpfr_sgn(x) < 0) mpfr_neg(value, value, MPFR_RNDN);
  mpfr_set(result, value, MPFR_RNDN);
}

// Newton's method on log erfc(z) = log y from a start that is good to some digits; y <= 1.
void ErfcInverseOfSmall(mpfr_ptr z, mpfr_ptr y) {
  const mpfr_prec_t bits = mpfr_get_prec(z);
  Real log_y(bits), value(bits), slope(bits), step(bits);
  mpfr_log(log_y, y, MPFR_RNDN);
  const double l = -mpfr_get_d(log_y, MPFR_RNDN);
  // Between 0 and large the square root of the logarithm is near; damped steps do the rest.
  mpfr_set_d(z, l < 0.5 ? l * 0.886 : std::sqrt(l) - 0.3, MPFR_RNDN);
  for (int i = 0; i < 60; ++i) {
    mpfr_erfc(value, z, MPFR_RNDN);
    // log erfc has the slope -2 e^(-z^2) / (sqrt(pi) erfc(z)).
    mpfr_sqr(slope, z, MPFR_RNDN);
    mpfr_neg(slope, slope, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_const_pi(step, MPFR_RNDN);
    mpfr_sqrt(step, step, MPFR_RNDN);
    mpfr_div(slope, slope, step, MPFR_RNDN);
    mpfr_mul_2ui(slope, slope, 1, MPFR_RNDN);
    mpfr_div(slope, slope, value, MPFR_RNDN);
    mpfr_log(step, value, MPFR_RNDN);
    mpfr_sub(step, step, log_y, MPFR_RNDN);
    mpfr_div(step, step, slope, MPFR_RNDN);
    mpfr_add(z, z, step, MPFR_RNDN);
    if (mpfr_zero_p(step) || mpfr_get_exp(step) < mpfr_get_exp(z) - bits + 24) return;
  }
}

}  // namespace

void BesselI0e(mpfr_ptr result, mpfr_ptr x) { Bessel(result, x, 0); }
void BesselI1e(mpfr_ptr result, mpfr_ptr x) { Bessel(result, x, 1); }

void ErfcInverse(mpfr_ptr result, mpfr_ptr x) {
  Real z(Wide(result)), y(Wide(result));
  const bool is_low = mpfr_cmp_ui(x, 1) > 0;
  if (is_low) {
    mpfr_ui_sub(y, 2, x, MPFR_RNDN);
  } else {
    mpfr_set(y, x, MPFR_RNDN);
  }
  ErfcInverseOfSmall(z, y);
  if (is_low) mpfr_neg(z, z, MPFR_RNDN);
  mpfr_set(result, z, MPFR_RNDN);
}

void ErfInverse(mpfr_ptr result, mpfr_ptr x) {
  // 1 - |x| needs the bits of the smallest argument, since nothing of it may be lost.
  const mpfr_prec_t bits = Wide(result) + 1200;
  Real magnitude(bits), z(Wide(result));
  mpfr_abs(magnitude, x, MPFR_RNDN);
  if (mpfr_get_exp(magnitude) < -mpfr_get_prec(result)) {
    // The next term of the series is below the last bit.
    mpfr_const_pi(z, MPFR_RNDN);
    mpfr_sqrt(z, z, MPFR_RNDN);
    mpfr_mul(z, z, x, MPFR_RNDN);
    mpfr_div_2ui(result, z, 1, MPFR_RNDN);
    return;
  }
  Real rest(bits), fine(Wide(result) + 2 * (8 - mpfr_get_exp(magnitude)));
  mpfr_ui_sub(rest, 1, magnitude, MPFR_RNDN);
  ErfcInverseOfSmall(fine, rest);
  if (mpfr_sgn(x) < 0) mpfr_neg(fine, fine, MPFR_RNDN);
  mpfr_set(result, fine, MPFR_RNDN);
}

void NormalQuantile(mpfr_ptr result, mpfr_ptr x) {
  Real twice(Wide(result)), root(Wide(result));
  mpfr_mul_2ui(twice, x, 1, MPFR_RNDN);
  ErfcInverse(root, twice);
  mpfr_set_ui(twice, 2, MPFR_RNDN);
  mpfr_sqrt(twice, twice, MPFR_RNDN);
  mpfr_mul(root, root, twice, MPFR_RNDN);
  mpfr_neg(result, root, MPFR_RNDN);
}

void Erfcx(mpfr_ptr result, mpfr_ptr x) {
  const mpfr_prec_t bits = Wide(result);
  Real value(bits), square(bits);
  if (mpfr_sgn(x) > 0 && mpfr_get_exp(x) > 40) {
    // 1 / (x sqrt(pi)) (1 - 1 / (2 x^2) + 3 / (4 x^4)); the rest is below 2^-240.
    mpfr_sqr(square, x, MPFR_RNDN);
    mpfr_ui_div(square, 1, square, MPFR_RNDN);
    mpfr_mul_d(value, square, 0.75, MPFR_RNDN);
    mpfr_sub_d(value, value, 0.5, MPFR_RNDN);
    mpfr_mul(value, value, square, MPFR_RNDN);
    mpfr_add_ui(value, value, 1, MPFR_RNDN);
    mpfr_div(value, value, x, MPFR_RNDN);
    mpfr_const_pi(square, MPFR_RNDN);
    mpfr_sqrt(square, square, MPFR_RNDN);
    mpfr_div(result, value, square, MPFR_RNDN);
    return;
  }
  mpfr_erfc(value, x, MPFR_RNDN);
  mpfr_sqr(square, x, MPFR_RNDN);
  mpfr_exp(square, square, MPFR_RNDN);
  mpfr_mul(result, value, square, MPFR_RNDN);
}

void Sinc(mpfr_ptr result, mpfr_ptr x) {
  Real value(Wide(result)), pi(Wide(result));
  mpfr_sinpi(value, x, MPFR_RNDN);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul(pi, pi, x, MPFR_RNDN);
  mpfr_div(result, value, pi, MPFR_RNDN);
}

}  // namespace assay::accuracy
