// The table of functions.
#include "conformance/accuracy/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/accuracy/special_functions.h"

namespace assay::accuracy {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;

double Logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Sign(double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }
double Negate(double x) { return -x; }
double Itself(double x) { return x; }
double Square(double x) { return x * x; }
double Reciprocal(double x) { return 1 / x; }
double ToRadians(double x) { return static_cast<double>(x * (3.14159265358979323846264L / 180)); }
double ToDegrees(double x) { return static_cast<double>(x * (180 / 3.14159265358979323846264L)); }
// A value that is neither NaN nor zero nor infinite: MPFR is asked.
constexpr double kAsk = 1;
double BesselI0eEnds(double x) { return std::isnan(x) ? x : std::isinf(x) ? 0 : kAsk; }
double BesselI1eEnds(double x) {
  return std::isnan(x) || x == 0 ? x : std::isinf(x) ? std::copysign(0.0, x) : kAsk;
}
double ErfInverseEnds(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return kNan;
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  return x == 0 ? x : kAsk;
}
double ErfcInverseEnds(double x) {
  if (!(x >= 0 && x <= 2)) return kNan;
  if (x == 0 || x == 2) return x == 0 ? kInfinity : -kInfinity;
  return x == 1 ? 0 : kAsk;
}
double ErfcxEnds(double x) {
  if (std::isnan(x)) return x;
  return x < -1e4 ? kInfinity : std::isinf(x) ? 0 : kAsk;
}
double NormalQuantileEnds(double x) {
  if (!(x >= 0 && x <= 1)) return kNan;
  if (x == 0 || x == 1) return x == 0 ? -kInfinity : kInfinity;
  return x == 0.5 ? 0 : kAsk;
}
double Sinc1(double x) {
  if (x == 0) return 1;
  if (std::isinf(x)) return kNan;  // JAX: the sine of infinity
  double turn = std::fabs(std::remainder(x, 2.0));
  const bool is_past = turn > 0.5;
  const double sine = std::sin(kPi * (is_past ? 1 - turn : turn));
  return std::copysign(1.0, std::remainder(std::fabs(x), 2.0)) * sine / (kPi * std::fabs(x));
}

double Add(double x, double y) { return x + y; }
double Subtract(double x, double y) { return x - y; }
double Multiply(double x, double y) { return x * y; }
double Divide(double x, double y) { return x / y; }
double Maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
double Minimum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return kNan;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}

// A function of MPFR that takes a rounding.
template <auto kFunction>
void Of1(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  kFunction(result, x, MPFR_RNDN);
}
template <auto kFunction>
void Of2(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) {
  kFunction(result, x, y, MPFR_RNDN);
}
template <void (*kFunction)(mpfr_ptr, mpfr_ptr)>
void Own(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  kFunction(result, x);
}

void ExactLogistic(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  Real value(mpfr_get_prec(result) + 32);
  mpfr_neg(value, x, MPFR_RNDN);
  mpfr_exp(value, value, MPFR_RNDN);
  mpfr_add_ui(value, value, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, value, MPFR_RNDN);
}
void ExactReciprocal(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  mpfr_ui_div(result, 1, x, MPFR_RNDN);
}
void ExactAngle(mpfr_ptr result, mpfr_ptr x, bool to_degrees) {
  Real factor(mpfr_get_prec(result) + 32);
  mpfr_const_pi(factor, MPFR_RNDN);
  mpfr_div_ui(factor, factor, 180, MPFR_RNDN);
  if (to_degrees) {
    mpfr_div(result, x, factor, MPFR_RNDN);
  } else {
    mpfr_mul(result, x, factor, MPFR_RNDN);
  }
}
void ExactToRadians(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) { ExactAngle(result, x, false); }
void ExactToDegrees(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) { ExactAngle(result, x, true); }
// Results that f64 holds exactly.
template <double (*kFunction)(double)>
void InDouble(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  mpfr_set_d(result, kFunction(mpfr_get_d(x, MPFR_RNDN)), MPFR_RNDN);
}
template <double (*kFunction)(double, double)>
void InDouble2(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) {
  mpfr_set_d(result, kFunction(mpfr_get_d(x, MPFR_RNDN), mpfr_get_d(y, MPFR_RNDN)), MPFR_RNDN);
}

using D1 = double (*)(double);
using D2 = double (*)(double, double);

constexpr TrueFunction Unary(std::string_view name, D1 quick, TrueFunction::Exact exact,
                             Parity parity = Parity::kNone, int on_negative = 0,
                             int on_positive = 0) {
  return {name, 1, quick, nullptr, nullptr, exact, parity, on_negative, on_positive};
}
constexpr TrueFunction Slow(std::string_view name, D1 ends, TrueFunction::Exact exact,
                            Parity parity = Parity::kNone, int on_negative = 0,
                            int on_positive = 0) {
  TrueFunction function = Unary(name, nullptr, exact, parity, on_negative, on_positive);
  function.ends = ends;
  return function;
}
constexpr TrueFunction Binary(std::string_view name, D2 quick, TrueFunction::Exact exact,
                              bool commutes = false) {
  return {name, 2, nullptr, quick, nullptr, exact, Parity::kNone, 0, 0, commutes};
}

constexpr auto kOdd = Parity::kOdd, kEven = Parity::kEven, kNone = Parity::kNone;

const TrueFunction kFunctions[] = {
    Unary("abs", std::fabs, InDouble<std::fabs>, kEven, -1, 1),
    Unary("acos", std::acos, Of1<mpfr_acos>, kNone, -1, -1),
    Unary("acosh", std::acosh, Of1<mpfr_acosh>, kNone, 0, 1),
    Unary("asin", std::asin, Of1<mpfr_asin>, kOdd, 1, 1),
    Unary("asinh", std::asinh, Of1<mpfr_asinh>, kOdd, 1, 1),
    Unary("atan", std::atan, Of1<mpfr_atan>, kOdd, 1, 1),
    Unary("atanh", std::atanh, Of1<mpfr_atanh>, kOdd, 1, 1),
    Unary("cbrt", std::cbrt, Of1<mpfr_cbrt>, kOdd, 1, 1),
    Unary("ceil", std::ceil, InDouble<std::ceil>, kNone, 1, 1),
    Unary("convert", Itself, InDouble<Itself>, kOdd, 1, 1),
    Unary("cosh", std::cosh, Of1<mpfr_cosh>, kEven, -1, 1),
    Unary("cosine", std::cos, Of1<mpfr_cos>, kEven),
    Unary("erf", std::erf, Of1<mpfr_erf>, kOdd, 1, 1),
    Unary("exponential", std::exp, Of1<mpfr_exp>, kNone, 1, 1),
    Unary("exponential-minus-one", std::expm1, Of1<mpfr_expm1>, kNone, 1, 1),
    Unary("floor", std::floor, InDouble<std::floor>, kNone, 1, 1),
    Unary("log", std::log, Of1<mpfr_log>, kNone, 0, 1),
    Unary("log-plus-one", std::log1p, Of1<mpfr_log1p>, kNone, 1, 1),
    Unary("logistic", Logistic, ExactLogistic, kNone, 1, 1),
    Unary("negate", Negate, InDouble<Negate>, kOdd, -1, -1),
    Unary("round-nearest-afz", std::round, InDouble<std::round>, kOdd, 1, 1),
    Unary("round-nearest-even", std::nearbyint, InDouble<std::nearbyint>, kOdd, 1, 1),
    Unary("rsqrt", Rsqrt, Of1<mpfr_rec_sqrt>, kNone, 0, -1),
    Unary("sign", Sign, InDouble<Sign>, kOdd, 1, 1),
    Unary("sine", std::sin, Of1<mpfr_sin>, kOdd),
    Unary("sinh", std::sinh, Of1<mpfr_sinh>, kOdd, 1, 1),
    Unary("sqrt", std::sqrt, Of1<mpfr_sqrt>, kNone, 0, 1),
    Unary("tan", std::tan, Of1<mpfr_tan>, kOdd),
    Unary("tanh", std::tanh, Of1<mpfr_tanh>, kOdd, 1, 1),
    Binary("add", Add, Of2<mpfr_add>, true),
    Binary("atan2", std::atan2, Of2<mpfr_atan2>),
    Binary("divide", Divide, Of2<mpfr_div>),
    Binary("maximum", Maximum, InDouble2<Maximum>, true),
    Binary("minimum", Minimum, InDouble2<Minimum>, true),
    Binary("multiply", Multiply, Of2<mpfr_mul>, true),
    Binary("power", std::pow, Of2<mpfr_pow>),
    Binary("remainder", std::fmod, InDouble2<std::fmod>),
    Binary("subtract", Subtract, Of2<mpfr_sub>),
    // JAX makes these of several ops.
    Slow("bessel_i0e", BesselI0eEnds, Own<BesselI0e>, kEven, 1, -1),
    Slow("bessel_i1e", BesselI1eEnds, Own<BesselI1e>, kOdd),
    Unary("deg2rad", ToRadians, ExactToRadians, kOdd, 1, 1),
    Slow("erf_inv", ErfInverseEnds, Own<ErfInverse>, kOdd, 1, 1),
    Unary("erfc", std::erfc, Of1<mpfr_erfc>, kNone, -1, -1),
    Slow("erfcinv", ErfcInverseEnds, Own<ErfcInverse>, kNone, 0, -1),
    Slow("erfcx", ErfcxEnds, Own<Erfcx>, kNone, -1, -1),
    Unary("exp2", std::exp2, Of1<mpfr_exp2>, kNone, 1, 1),
    Unary("log10", std::log10, Of1<mpfr_log10>, kNone, 0, 1),
    Unary("log2", std::log2, Of1<mpfr_log2>, kNone, 0, 1),
    Slow("ndtri", NormalQuantileEnds, Own<NormalQuantile>, kNone, 0, 1),
    Unary("rad2deg", ToDegrees, ExactToDegrees, kOdd, 1, 1),
    Unary("reciprocal", Reciprocal, ExactReciprocal, kOdd, -1, -1),
    Unary("sinc", Sinc1, Own<Sinc>, kEven),
    Unary("square", Square, Of1<mpfr_sqr>, kEven, -1, 1),
    Binary("hypot", std::hypot, Of2<mpfr_hypot>, true),
};

constexpr std::pair<std::string_view, std::string_view> kNamesOfJax[] = {
    {"cos", "cosine"}, {"exp", "exponential"},    {"expm1", "exponential-minus-one"},
    {"sin", "sine"},   {"log1p", "log-plus-one"},
};

}  // namespace

absl::Span<const TrueFunction> Functions() { return kFunctions; }

const TrueFunction* FindFunction(std::string_view name) {
  for (const auto& [jax, hlo] : kNamesOfJax)
    if (jax == name) name = hlo;
  const auto* at = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                [&](const TrueFunction& one) { return one.name == name; });
  return at == std::end(kFunctions) ? nullptr : at;
}

}  // namespace assay::accuracy
