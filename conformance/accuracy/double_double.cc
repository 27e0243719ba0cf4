// Series and Newton steps on pairs of doubles.
#include "conformance/accuracy/double_double.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

struct Pair {
  double high = 0, low = 0;
};

constexpr Pair kLog2 = {0.6931471805599453, 2.3190468138462996e-17};
constexpr Pair kTwoBySqrtPi = {1.1283791670955126, 1.533545961316588e-17};
constexpr double kHalfPi[] = {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33,
                              5.562271104087211e-50};

Pair SumOf(double a, double b) {
  const double sum = a + b, taken = sum - a;
  return {sum, (a - (sum - taken)) + (b - taken)};
}
Pair Normal(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}
Pair ProductOf(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}
Pair operator-(Pair a) { return {-a.high, -a.low}; }
Pair operator+(Pair a, Pair b) {
  const Pair high = SumOf(a.high, b.high), low = SumOf(a.low, b.low);
  const Pair sum = Normal(high.high, high.low + low.high);
  return Normal(sum.high, sum.low + low.low);
}
Pair operator-(Pair a, Pair b) { return a + -b; }
Pair operator*(Pair a, Pair b) {
  const Pair high = ProductOf(a.high, b.high);
  return Normal(high.high, high.low + (a.high * b.low + a.low * b.high));
}
Pair operator*(Pair a, double b) { return a * Pair{b, 0}; }
Pair operator/(Pair a, Pair b) {
  const double q = a.high / b.high;
  const Pair rest = a - b * q;
  const double more = rest.high / b.high;
  const Pair last = rest - b * more;
  return Pair{q, 0} + Pair{more, 0} + Pair{last.high / b.high, 0};
}
Pair Times2To(Pair a, int exponent) {
  return {std::ldexp(a.high, exponent), std::ldexp(a.low, exponent)};
}
Precise Scaled(Pair a, int exponent = 0) { return {a.high, a.low, exponent}; }

// e^x - 1, |x| <= 0.4.
Pair SmallExpm1(Pair x) {
  constexpr int kHalvings = 8;
  const Pair r = Times2To(x, -kHalvings);
  Pair term = r, sum = r;
  for (int n = 2; n < 14; ++n) {
    term = term * r / Pair{static_cast<double>(n), 0};
    sum = sum + term;
  }
  for (int i = 0; i < kHalvings; ++i) sum = Times2To(sum, 1) + sum * sum;
  return sum;
}

// x = k ln 2 + r.
Pair Reduced(Pair x, int& k) {
  k = static_cast<int>(std::nearbyint(x.high / kLog2.high));
  return x - kLog2 * static_cast<double>(k);
}

Precise Exp(Pair x) {
  int k = 0;
  const Pair r = Reduced(x, k);
  return Scaled(Pair{1, 0} + SmallExpm1(r), k);
}

// e^x - 1, |x| <= 700.
Precise Expm1(Pair x) {
  int k = 0;
  const Pair r = Reduced(x, k);
  if (k == 0) return Scaled(SmallExpm1(r));
  return Scaled(SmallExpm1(r) + (Pair{1, 0} - Pair{std::ldexp(1.0, -k), 0}), k);
}

// log(1 + x), |x| <= 0.12: twice the inverse hyperbolic tangent of x / (2 + x).
Pair SmallLog1p(Pair x) {
  const Pair s = x / (Pair{2, 0} + x), z = s * s;
  Pair power = s, sum = s;
  for (int n = 3; n < 40; n += 2) {
    power = power * z;
    sum = sum + power / Pair{static_cast<double>(n), 0};
  }
  return Times2To(sum, 1);
}

// log(2^exponent m), m from 0.7 to 1.5.
Pair Log(Pair m, int exponent) {
  const Pair of_exponent = kLog2 * static_cast<double>(exponent);
  const Pair less = m - Pair{1, 0};
  if (std::fabs(less.high) < 0.1) return of_exponent + SmallLog1p(less);
  const double guess = std::log(m.high);
  const Precise inverse = Exp({-guess, 0});
  const Pair e = Times2To({inverse.high, inverse.low}, inverse.exponent);
  return of_exponent + (Pair{guess, 0} + SmallLog1p(m * e - Pair{1, 0}));
}

Pair LogOf(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.7071) {
    m *= 2;
    --exponent;
  }
  return Log({m, 0}, exponent);
}

// The remainder of x by pi / 2, |x| <= 2^30, and how often pi / 2 was taken away, modulo 4.
Pair ReducedAngle(double x, int& quarter) {
  const double k = std::nearbyint(x / kHalfPi[0]);
  quarter = static_cast<int>(static_cast<int64_t>(k) & 3);
  Pair r = {std::fma(-k, kHalfPi[0], x), 0};
  for (int i = 1; i < 4; ++i) r = r - ProductOf(k, kHalfPi[i]);
  return r;
}

// r - r^3 / 3! + ..., or 1 - r^2 / 2! + ...
Pair SeriesOfAngle(Pair r, bool cosine) {
  const Pair z = -(r * r);
  Pair term = cosine ? Pair{1, 0} : r, sum = term;
  for (int n = cosine ? 1 : 2; n < 34; n += 2) {
    term = term * z / Pair{static_cast<double>(n * (n + 1)), 0};
    sum = sum + term;
  }
  return sum;
}

Precise OfExtended(long double value) {
  int exponent = 0;
  const long double m = std::frexp(value, &exponent);
  const auto high = static_cast<double>(m);
  return {high, static_cast<double>(m - high), exponent};
}

constexpr double kFar = 0x1p30;

// So small that the function is its argument, to all places that are judged.
bool IsTiny(double x) { return std::fabs(x) < 0x1p-120; }
Precise Itself(double x) {
  int exponent = 0;
  const double m = std::frexp(x, &exponent);
  return {m, 0, exponent};
}

}  // namespace

Precise PreciseExp(double x) { return Exp({x, 0}); }

Precise PreciseExpm1(double x) {
  if (IsTiny(x)) return Itself(x);
  if (x < -100) return {-1, std::exp(x), 0};
  return x > 100 ? Exp({x, 0}) : Expm1({x, 0});
}

Precise PreciseLog(double x) { return Scaled(LogOf(x)); }

Precise PreciseLog1p(double x) {
  if (IsTiny(x)) return Itself(x);
  if (std::fabs(x) < 0.1) return Scaled(SmallLog1p({x, 0}));
  const Pair u = SumOf(1, x);
  int exponent = 0;
  if (std::frexp(u.high, &exponent) < 0.7071) --exponent;
  return Scaled(Log(Times2To(u, -exponent), exponent));
}

Precise PreciseTanh(double x) {
  if (IsTiny(x)) return Itself(x);
  const double a = std::fabs(x);
  if (a > 60) return {std::copysign(1.0, x), std::copysign(2 * std::exp(-2 * a), -x), 0};
  const Precise e = Expm1({2 * a, 0});
  const Pair t = Times2To({e.high, e.low}, e.exponent), result = t / (t + Pair{2, 0});
  return Scaled(x < 0 ? -result : result);
}

Precise PreciseLogistic(double x) {
  if (x > 800) return {1, -0x1p-1000, 0};
  const Precise e = Exp({-std::fabs(x), 0});
  const Pair m = {e.high, e.low};
  const Pair inverse = Pair{1, 0} / (Pair{1, 0} + Times2To(m, std::max(e.exponent, -300)));
  return x < 0 ? Scaled(m * inverse, e.exponent) : Scaled(inverse);
}

Precise PreciseErf(double x) {
  if (std::fabs(x) > 6.5)
    return {std::copysign(1.0, x), std::copysign(std::erfc(std::fabs(x)), -x)};
  if (IsTiny(x)) {
    const Precise self = Itself(x);
    return Scaled(kTwoBySqrtPi * self.high, self.exponent);
  }
  // All terms of e^(-x^2) times the sum of 2^n x^(2 n + 1) / (2 n + 1)!! have one sign.
  const Pair z = ProductOf(x, x);
  Pair term = {x, 0}, sum = term;
  for (int n = 1; std::fabs(term.high) > 0x1p-115 * std::fabs(sum.high); ++n) {
    term = term * Times2To(z, 1) / Pair{static_cast<double>(2 * n + 1), 0};
    sum = sum + term;
  }
  const Precise e = Exp(-z);
  return Scaled(sum * Pair{e.high, e.low} * kTwoBySqrtPi, e.exponent);
}

Precise PreciseSine(double x) {
  if (IsTiny(x)) return Itself(x);
  if (std::fabs(x) > kFar) return OfExtended(std::sin(static_cast<long double>(x)));
  int quarter = 0;
  const Pair r = ReducedAngle(x, quarter);
  const Pair size = SeriesOfAngle(r, (quarter & 1) != 0);
  return Scaled((quarter & 2) != 0 ? -size : size);
}

Precise PreciseCosine(double x) {
  if (std::fabs(x) > kFar) return OfExtended(std::cos(static_cast<long double>(x)));
  int quarter = 0;
  const Pair r = ReducedAngle(x, quarter);
  const Pair size = SeriesOfAngle(r, (quarter & 1) == 0);
  return Scaled(quarter == 1 || quarter == 2 ? -size : size);
}

Precise PreciseTan(double x) {
  if (IsTiny(x)) return Itself(x);
  if (std::fabs(x) > kFar) return OfExtended(std::tan(static_cast<long double>(x)));
  int quarter = 0;
  const Pair r = ReducedAngle(x, quarter);
  const Pair sine = SeriesOfAngle(r, false), cosine = SeriesOfAngle(r, true);
  return Scaled((quarter & 1) != 0 ? -(cosine / sine) : sine / cosine);
}

Precise PreciseCbrt(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  const int over = ((exponent % 3) + 3) % 3;
  m = std::ldexp(m, over);
  const Pair guess = {std::cbrt(m), 0};
  const Pair square = guess * guess;
  const Pair step = (square * guess - Pair{m, 0}) / (square * 3.0);
  return Scaled(guess - step, (exponent - over) / 3);
}

Precise PreciseRsqrt(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if ((exponent & 1) != 0) {
    m *= 2;
    --exponent;
  }
  const Pair guess = {1 / std::sqrt(m), 0};
  const Pair rest = Pair{1, 0} - guess * guess * m;
  // 1 / sqrt(1 - rest), to the square of what is so small.
  const Pair step = guess * (rest * 0.5 + rest * rest * 0.375);
  return Scaled(guess + step, -exponent / 2);
}

Precise PreciseAtan2(double y, double x) {
  const double pi[] = {2 * kHalfPi[0], 2 * kHalfPi[1]};
  if (std::isinf(x) || x == 0 || std::isinf(y)) {  // a multiple of pi / 4, but none of 0
    const double eighths = std::round(std::atan2(std::fabs(y), x) / pi[0] * 4) / 4;
    const Pair angle = Pair{pi[0], pi[1]} * eighths;
    return Scaled(std::signbit(y) ? -angle : angle);
  }
  int of_x = 0, of_y = 0;
  const double u = std::frexp(x, &of_x), v = std::frexp(std::fabs(y), &of_y);
  const double sign = std::signbit(y) ? -1 : 1;
  if (x > 0 && of_y - of_x < -120) {
    return Scaled(Pair{sign * v, 0} / Pair{u, 0}, of_y - of_x);
  }
  // From the angle of f64 to the true one: what is left is as small as its sine.
  const int most = std::max(of_x, of_y);
  const double a = std::ldexp(u, of_x - most), b = std::ldexp(v, of_y - most);
  const double guess = std::atan2(b, a);
  int quarter = 0;
  const Pair r = ReducedAngle(guess, quarter);
  Pair sine = SeriesOfAngle(r, quarter == 1), cosine = SeriesOfAngle(r, quarter != 1);
  if (quarter == 2) sine = -sine;
  if (quarter != 0) cosine = -cosine;
  const Pair across = cosine * b - sine * a;
  const Pair rest = across / (Pair{a, 0} * cosine + Pair{b, 0} * sine);
  const Pair angle = Pair{guess, 0} + rest;
  return Scaled(sign < 0 ? -angle : angle);
}

Precise PrecisePower(double x, double y) { return Exp(LogOf(x) * y); }

double UlpsFrom(double value, const Precise& truth) {
  int exponent = 0;
  std::frexp(truth.high, &exponent);
  // Half an ulp below a power of two the units are smaller.
  if (std::fabs(truth.high) == std::ldexp(0.5, exponent) && truth.high * truth.low < 0) --exponent;
  const int ulp = std::max(exponent + truth.exponent - 1, -1022) - 52;
  const double size = std::ldexp(std::fabs(truth.high), std::clamp(truth.exponent, -3000, 3000));
  const bool is_infinite =
      exponent + truth.exponent > 1024 || std::isinf(size) ||
      (size == std::numeric_limits<double>::max() && truth.high * truth.low > 0 &&
       std::fabs(std::ldexp(truth.low, truth.exponent)) >= 0x1p970);
  if (is_infinite || std::isinf(value)) {
    return is_infinite && std::isinf(value) && (value > 0) == (truth.high > 0)
               ? 0
               : std::numeric_limits<double>::infinity();
  }
  // In units of the last place both are small numbers.
  const double units = std::ldexp(value, -ulp);
  const double high = std::ldexp(truth.high, truth.exponent - ulp);
  return std::fabs((units - high) - std::ldexp(truth.low, truth.exponent - ulp));
}

namespace {

double QuickLogistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

double QuickRsqrt(double x) { return 1 / std::sqrt(x); }

constexpr DoubleFunction kFunctions[] = {
    {"cbrt", std::cbrt, PreciseCbrt},
    {"cosine", std::cos, PreciseCosine},
    {"erf", std::erf, PreciseErf},
    {"exponential", std::exp, PreciseExp},
    {"exponential-minus-one", std::expm1, PreciseExpm1},
    {"log", std::log, PreciseLog},
    {"log-plus-one", std::log1p, PreciseLog1p},
    {"logistic", QuickLogistic, PreciseLogistic},
    {"rsqrt", QuickRsqrt, PreciseRsqrt},
    {"sine", std::sin, PreciseSine},
    {"tan", std::tan, PreciseTan},
    {"tanh", std::tanh, PreciseTanh},
};

}  // namespace

absl::Span<const DoubleFunction> DoubleFunctions() { return kFunctions; }

}  // namespace assay
