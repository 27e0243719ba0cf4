// Complex functions by real ones, with bits to spare.
#include "conformance/accuracy/complex_truth.h"

#include <algorithm>
#include <cmath>

#include "conformance/accuracy/real.h"

namespace assay::accuracy {
namespace {

using Numbers = mpfr_ptr const*;  // real part, imaginary part

struct Complex {
  explicit Complex(mpfr_prec_t bits) : re(bits), im(bits) {}
  Real re, im;
  mpfr_ptr parts[2] = {re.get(), im.get()};
  operator Numbers() const { return parts; }
};

mpfr_prec_t BitsOf(Numbers x) { return mpfr_get_prec(x[0]); }

void Set(Numbers result, Numbers x) {
  mpfr_set(result[0], x[0], MPFR_RNDN);
  mpfr_set(result[1], x[1], MPFR_RNDN);
}
void Plus(Numbers result, Numbers x, Numbers y) {
  mpfr_add(result[0], x[0], y[0], MPFR_RNDN);
  mpfr_add(result[1], x[1], y[1], MPFR_RNDN);
}
void Minus(Numbers result, Numbers x, Numbers y) {
  mpfr_sub(result[0], x[0], y[0], MPFR_RNDN);
  mpfr_sub(result[1], x[1], y[1], MPFR_RNDN);
}
void Times(Numbers result, Numbers x, Numbers y) {
  Complex value(BitsOf(x));
  mpfr_fmms(value.re, x[0], y[0], x[1], y[1], MPFR_RNDN);
  mpfr_fmma(value.im, x[0], y[1], x[1], y[0], MPFR_RNDN);
  Set(result, value);
}
void Over(Numbers result, Numbers x, Numbers y) {
  Complex mirror(BitsOf(x));
  Real norm(BitsOf(x));
  mpfr_fmma(norm, y[0], y[0], y[1], y[1], MPFR_RNDN);
  mpfr_set(mirror.re, y[0], MPFR_RNDN);
  mpfr_neg(mirror.im, y[1], MPFR_RNDN);
  Times(result, x, mirror);
  mpfr_div(result[0], result[0], norm, MPFR_RNDN);
  mpfr_div(result[1], result[1], norm, MPFR_RNDN);
}

void Negate(Numbers result, Numbers x, Numbers) {
  mpfr_neg(result[0], x[0], MPFR_RNDN);
  mpfr_neg(result[1], x[1], MPFR_RNDN);
}
void Abs(Numbers result, Numbers x, Numbers) { mpfr_hypot(result[0], x[0], x[1], MPFR_RNDN); }
void Exp(Numbers result, Numbers x, Numbers) {
  Real size(BitsOf(x));
  Complex turn(BitsOf(x));
  mpfr_exp(size, x[0], MPFR_RNDN);
  mpfr_sin_cos(turn.im, turn.re, x[1], MPFR_RNDN);
  mpfr_mul(result[0], size, turn.re, MPFR_RNDN);
  mpfr_mul(result[1], size, turn.im, MPFR_RNDN);
}
void Expm1(Numbers result, Numbers x, Numbers y) {
  // expm1(a) cos b - 2 sin(b/2)^2 cancels little where both are small, and bits are spare.
  Real less(BitsOf(x)), half(BitsOf(x)), cosine(BitsOf(x));
  mpfr_expm1(less, x[0], MPFR_RNDN);
  mpfr_cos(cosine, x[1], MPFR_RNDN);
  mpfr_div_2ui(half, x[1], 1, MPFR_RNDN);
  mpfr_sin(half, half, MPFR_RNDN);
  Complex whole(BitsOf(x));
  Exp(whole, x, y);
  mpfr_mul(less, less, cosine, MPFR_RNDN);
  mpfr_sqr(half, half, MPFR_RNDN);
  mpfr_mul_2ui(half, half, 1, MPFR_RNDN);
  mpfr_sub(result[0], less, half, MPFR_RNDN);
  mpfr_set(result[1], whole.im, MPFR_RNDN);
}
void Log(Numbers result, Numbers x, Numbers) {
  Complex value(BitsOf(x));
  mpfr_fmma(value.re, x[0], x[0], x[1], x[1], MPFR_RNDN);
  mpfr_log(value.re, value.re, MPFR_RNDN);
  mpfr_div_2ui(value.re, value.re, 1, MPFR_RNDN);
  mpfr_atan2(value.im, x[1], x[0], MPFR_RNDN);
  Set(result, value);
}
void Log1p(Numbers result, Numbers x, Numbers) {
  // |1 + x|^2 - 1 = a (2 + a) + b^2
  Complex value(BitsOf(x));
  Real more(BitsOf(x)), one(BitsOf(x));
  mpfr_add_ui(more, x[0], 2, MPFR_RNDN);
  mpfr_fmma(value.re, x[0], more, x[1], x[1], MPFR_RNDN);
  mpfr_log1p(value.re, value.re, MPFR_RNDN);
  mpfr_div_2ui(value.re, value.re, 1, MPFR_RNDN);
  mpfr_add_ui(one, x[0], 1, MPFR_RNDN);
  mpfr_atan2(value.im, x[1], one, MPFR_RNDN);
  Set(result, value);
}
void Sqrt(Numbers result, Numbers x, Numbers) {
  // The root of the larger of |z| + a and |z| - a; the other part is b / (2 root).
  Real root(BitsOf(x)), size(BitsOf(x)), other(BitsOf(x));
  mpfr_hypot(size, x[0], x[1], MPFR_RNDN);
  mpfr_abs(root, x[0], MPFR_RNDN);
  mpfr_add(root, root, size, MPFR_RNDN);
  mpfr_div_2ui(root, root, 1, MPFR_RNDN);
  mpfr_sqrt(root, root, MPFR_RNDN);
  mpfr_div(other, x[1], root, MPFR_RNDN);
  mpfr_div_2ui(other, other, 1, MPFR_RNDN);
  if (mpfr_zero_p(root.get())) mpfr_set_zero(other, 1);
  const bool is_left = mpfr_sgn(x[0]) < 0;
  const bool is_low = mpfr_signbit(x[1]) != 0;
  mpfr_set(result[0], is_left ? other : root, MPFR_RNDN);
  mpfr_set(result[1], is_left ? root : other, MPFR_RNDN);
  if (is_left && is_low) {
    mpfr_neg(result[0], result[0], MPFR_RNDN);
    mpfr_neg(result[1], result[1], MPFR_RNDN);
  }
}
void Rsqrt(Numbers result, Numbers x, Numbers y) {
  Complex root(BitsOf(x)), one(BitsOf(x));
  Sqrt(root, x, y);
  mpfr_set_ui(one.re, 1, MPFR_RNDN);
  mpfr_set_zero(one.im, 1);
  Over(result, one, root);
}
// Sine and cosine of one part, hyperbolic sine and cosine of the other.
struct Waves {
  Complex turn, grow;  // {cosine, sine}, {hyperbolic cosine, hyperbolic sine}
  Waves(Numbers x, int angle) : turn(BitsOf(x)), grow(BitsOf(x)) {
    mpfr_sin_cos(turn.im, turn.re, x[angle], MPFR_RNDN);
    mpfr_sinh_cosh(grow.im, grow.re, x[1 - angle], MPFR_RNDN);
  }
};
void Cosine(Numbers result, Numbers x, Numbers) {
  Waves of(x, 0);
  mpfr_mul(result[0], of.turn.re, of.grow.re, MPFR_RNDN);
  mpfr_mul(result[1], of.turn.im, of.grow.im, MPFR_RNDN);
  mpfr_neg(result[1], result[1], MPFR_RNDN);
}
void Sine(Numbers result, Numbers x, Numbers) {
  Waves of(x, 0);
  mpfr_mul(result[0], of.turn.im, of.grow.re, MPFR_RNDN);
  mpfr_mul(result[1], of.turn.re, of.grow.im, MPFR_RNDN);
}
void Sinh(Numbers result, Numbers x, Numbers) {
  Waves of(x, 1);
  mpfr_mul(result[0], of.grow.im, of.turn.re, MPFR_RNDN);
  mpfr_mul(result[1], of.grow.re, of.turn.im, MPFR_RNDN);
}
void Cosh(Numbers result, Numbers x, Numbers) {
  Waves of(x, 1);
  mpfr_mul(result[0], of.grow.re, of.turn.re, MPFR_RNDN);
  mpfr_mul(result[1], of.grow.im, of.turn.im, MPFR_RNDN);
}
// The quotient of two functions.
template <void (*kAbove)(Numbers, Numbers, Numbers), void (*kBelow)(Numbers, Numbers, Numbers)>
void QuotientOf(Numbers result, Numbers x, Numbers y) {
  Complex above(BitsOf(x)), below(BitsOf(x));
  kAbove(above, x, y);
  kBelow(below, x, y);
  Over(result, above, below);
}
constexpr auto kTan = QuotientOf<Sine, Cosine>;
constexpr auto kTanh = QuotientOf<Sinh, Cosh>;
void Logistic(Numbers result, Numbers x, Numbers y) {
  Complex less(BitsOf(x)), one(BitsOf(x));
  Negate(less, x, y);
  Exp(less, less, y);
  mpfr_add_ui(less.re, less.re, 1, MPFR_RNDN);
  mpfr_set_ui(one.re, 1, MPFR_RNDN);
  mpfr_set_zero(one.im, 1);
  Over(result, one, less);
}
void Sign(Numbers result, Numbers x, Numbers) {
  Real size(BitsOf(x));
  mpfr_hypot(size, x[0], x[1], MPFR_RNDN);
  if (mpfr_zero_p(size.get())) return Set(result, x);
  mpfr_div(result[0], x[0], size, MPFR_RNDN);
  mpfr_div(result[1], x[1], size, MPFR_RNDN);
}

constexpr ComplexFunction kFunctions[] = {
    {"abs", 1, true, Abs},
    {"cosh", 1, false, Cosh},
    {"cosine", 1, false, Cosine},
    {"exponential", 1, false, Exp},
    {"exponential-minus-one", 1, false, Expm1},
    {"log", 1, false, Log},
    {"log-plus-one", 1, false, Log1p},
    {"logistic", 1, false, Logistic},
    {"negate", 1, false, Negate},
    {"rsqrt", 1, false, Rsqrt},
    {"sign", 1, false, Sign},
    {"sine", 1, false, Sine},
    {"sinh", 1, false, Sinh},
    {"sqrt", 1, false, Sqrt},
    {"tan", 1, false, kTan},
    {"tanh", 1, false, kTanh},
    {"add", 2, false, Plus},
    {"divide", 2, false, Over},
    {"multiply", 2, false, Times},
    {"subtract", 2, false, Minus},
};

}  // namespace

const ComplexFunction* FindComplexFunction(std::string_view name) {
  const auto* at = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                [&](const ComplexFunction& one) { return one.name == name; });
  return at == std::end(kFunctions) ? nullptr : at;
}

ComplexCounter::ComplexCounter(const ComplexFunction& function, ElementType type)
    : function_(function), format_(Format(type)), round_(format_), units_(format_) {}

void ComplexCounter::Add(Parts x, Parts y, Parts got) {
  // Sums and products of the parts are exact with so many bits, or nearly.
  const mpfr_prec_t bits = format_.type == ElementType::kF64 ? 2400 : 640;
  Complex first(bits), second(bits), result(bits);
  mpfr_set_d(first.re, x.re, MPFR_RNDN);
  mpfr_set_d(first.im, x.im, MPFR_RNDN);
  mpfr_set_d(second.re, y.re, MPFR_RNDN);
  mpfr_set_d(second.im, y.im, MPFR_RNDN);
  mpfr_set_zero(result.im, 1);
  function_.exact(result, first, second);
  ++errors_.inputs;
  ++errors_.asked;
  const Parts truth = {mpfr_get_d(result.re, MPFR_RNDN), mpfr_get_d(result.im, MPFR_RNDN)};
  const Parts want = {round_(truth.re), round_(truth.im)};
  const bool re_is_larger = std::fabs(truth.re) >= std::fabs(truth.im);
  const Sample sample = {x.re, x.im, re_is_larger ? got.re : got.im,
                         re_is_larger ? want.re : want.im};
  if (got.re == want.re && got.im == want.im) {
    ++errors_.nearest;
    ++errors_.histogram[0];
    return;
  }
  if (!std::isfinite(want.re) || !std::isfinite(want.im) || !std::isfinite(got.re) ||
      !std::isfinite(got.im)) {
    const auto kind = [](double value) {
      return std::isnan(value) ? 2 : std::isinf(value) ? 1 : 0;
    };
    if (kind(got.re) == kind(want.re) && kind(got.im) == kind(want.im)) {
      ++errors_.nearest;
      ++errors_.histogram[0];
    } else {
      errors_.other_class.Note(sample);
    }
    return;
  }
  const double size = std::max(std::fabs(want.re), std::fabs(want.im));
  if (size < units_.min_normal() && got.re == 0 && got.im == 0)
    return errors_.flushed_out.Note(sample);
  mpfr_d_sub(result.re, got.re, result.re, MPFR_RNDN);
  mpfr_d_sub(result.im, got.im, result.im, MPFR_RNDN);
  mpfr_hypot(result.re, result.re, result.im, MPFR_RNDN);
  const double ulps = mpfr_get_d(result.re, MPFR_RNDN) / units_.Of(size);
  errors_.Count(ulps, sample);
}

}  // namespace assay::accuracy
