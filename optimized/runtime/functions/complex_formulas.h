// Functions of complex numbers, parts as doubles in and out. W is what a function computes in:
// double for c64, Twofold for c128, so that the result is rounded once from something better than
// its format. Documents: operation semantics chapters 5 and 6.
#pragma once

#include "optimized/runtime/functions/twofold.h"

namespace assay {
namespace {

// A complex number, as compiled code returns it.
struct Parts {
  double re, im;
};

template <typename W>
struct Z {
  W re = 0, im = 0;
};

template <typename W>
Z<W> operator-(Z<W> z) {
  return {-z.re, -z.im};
}
template <typename W>
Z<W> operator+(Z<W> x, Z<W> y) {
  return {x.re + y.re, x.im + y.im};
}
template <typename W>
Z<W> operator*(Z<W> x, Z<W> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <typename W>
bool IsZero(Z<W> z) {
  return High(z.re) == 0 && High(z.im) == 0;
}
template <typename W>
Z<W> Scaled(Z<W> z, int exponent) {
  return {TimesPower(z.re, exponent), TimesPower(z.im, exponent)};
}
template <typename W>
W Magnitude(W x) {
  return High(x) < 0 ? -x : x;
}
template <typename W>
W WithSign(W magnitude, W sign) {
  return std::bit_cast<uint64_t>(High(sign)) >> 63 != 0 ? -magnitude : magnitude;
}
template <typename W>
bool IsInfinite(Z<W> z) {
  return __builtin_isinf(High(z.re)) || __builtin_isinf(High(z.im));
}
template <typename W>
bool IsFinite(Z<W> z) {
  return __builtin_isfinite(High(z.re)) && __builtin_isfinite(High(z.im));
}

// The exponent of the larger part, -1000 at least; 0 of what is no number.
template <typename W>
int ExponentOf(Z<W> z) {
  const double a = __builtin_fabs(High(z.re)), b = __builtin_fabs(High(z.im));
  const auto bits = std::bit_cast<uint64_t>(a < b ? b : a);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent == 1024) return 0;
  return exponent < -1000 ? -1000 : exponent;
}

template <typename W>
W Modulus(Z<W> z) {
  if (IsInfinite(z)) return std::numeric_limits<double>::infinity();
  const int exponent = ExponentOf(z);
  const Z<W> near = Scaled(z, -exponent);
  return TimesPower(Sqrt(near.re * near.re + near.im * near.im), exponent);
}

template <typename W>
Z<W> Divide(Z<W> x, Z<W> y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (IsZero(y)) {
    const W pole = WithSign(W(kInfinity), y.re);
    return {High(pole) * High(x.re), High(pole) * High(x.im)};
  }
  if (IsInfinite(y) && IsFinite(x)) return {0, 0};
  const int above = ExponentOf(x), below = ExponentOf(y);
  x = Scaled(x, -above);
  y = Scaled(y, -below);
  const W size = y.re * y.re + y.im * y.im;
  return Scaled(Z<W>{(x.re * y.re + x.im * y.im) / size, (x.im * y.re - x.re * y.im) / size},
                above - below);
}

// e^a cos b, e^a sin b; by halves where e^a alone may be infinite.
template <typename W>
Z<W> Exponential(Z<W> z) {
  W sine, cosine;
  SineAndCosine(z.im, sine, cosine);
  const bool is_large = High(z.re) > 700;
  const W power = Exp(is_large ? z.re / W(2) : z.re);
  Z<W> result = {power * cosine, power * sine};
  if (is_large) result = {result.re * power, result.im * power};
  if (High(z.im) == 0) result.im = z.im;
  return result;
}

template <typename W>
Z<W> ExpMinusOne(Z<W> z) {
  W sine, cosine, half_sine, unused;
  SineAndCosine(z.im, sine, cosine);
  SineAndCosine(z.im / W(2), half_sine, unused);
  return {Expm1(z.re) * cosine - W(2) * (half_sine * half_sine), Exp(z.re) * sine};
}

template <typename W>
W LogOfTwo();
template <>
inline double LogOfTwo<double>() {
  return kLog2High;
}
template <>
inline Twofold LogOfTwo<Twofold>() {
  return {kLog2High, kLog2Low};
}

template <typename W>
W LogOfModulus(Z<W> z) {
  W a = Magnitude(z.re), b = Magnitude(z.im);
  if (a < b) std::swap(a, b);
  // Near one the square of the modulus less one keeps the digits.
  if (High(a) >= 0.5 && High(a) < 2) return Log1p((a - W(1)) * (a + W(1)) + b * b) / W(2);
  if (!__builtin_isfinite(High(a)) || High(a) == 0) return Log(a);
  const int exponent = ExponentOf(z);
  const Z<W> near = Scaled(Z<W>{a, b}, -exponent);
  return LogOfTwo<W>() * W(exponent) + Log(near.re * near.re + near.im * near.im) / W(2);
}

template <typename W>
Z<W> Logarithm(Z<W> z) {
  return {LogOfModulus(z), Atan2(z.im, z.re)};
}

template <typename W>
Z<W> LogPlusOne(Z<W> z) {
  const W one_more = W(1) + z.re;
  const W angle = Atan2(z.im, one_more);
  const bool is_near = __builtin_fabs(High(z.re)) < 1 && __builtin_fabs(High(z.im)) < 1;
  if (is_near) {
    // |1 + z|^2 - 1. Below a half of one it would lose its digits; there 1 + a is exact.
    const W excess = z.re * (z.re + W(2)) + z.im * z.im;
    if (High(excess) > -0.5) return {Log1p(excess) / W(2), angle};
  }
  return {LogOfModulus(Z<W>{one_more, z.im}), angle};
}

template <typename W>
Z<W> SquareRoot(Z<W> z) {
  if (IsZero(z)) return {0, z.im};
  const int half = ExponentOf(z) / 2;
  const Z<W> near = Scaled(z, -2 * half);
  const W size = Sqrt(near.re * near.re + near.im * near.im);
  const W m = Sqrt((Magnitude(near.re) + size) / W(2));
  const W other = Magnitude(near.im) / (m + m);
  const bool is_right = High(z.re) >= 0;
  return Scaled(Z<W>{is_right ? m : other, WithSign(is_right ? other : m, z.im)}, half);
}

template <typename W>
Z<W> Rsqrt(Z<W> z) {
  return Divide(Z<W>{1, 0}, SquareRoot(z));
}
template <typename W>
Z<W> Logistic(Z<W> z) {
  const Z<W> power = Exponential(-z);
  return Divide(Z<W>{1, 0}, Z<W>{power.re + W(1), power.im});
}
template <typename W>
Z<W> CubeRoot(Z<W> z) {
  if (IsZero(z)) return z;
  const Z<W> log = Logarithm(z);
  return Exponential(Z<W>{log.re / W(3), log.im / W(3)});
}

template <typename W>
Z<W> Sign(Z<W> z) {
  const double sum = High(z.re) + High(z.im);
  const bool is_nan = __builtin_isnan(High(z.re)) || __builtin_isnan(High(z.im));
  if (is_nan) return {sum, sum};
  if (IsZero(z)) return {0, 0};
  const Z<W> near = Scaled(z, -ExponentOf(z));
  const W size = Modulus(near);
  return {near.re / size, near.im / size};
}

template <typename W>
Z<W> Power(Z<W> x, Z<W> y) {
  if (IsZero(y)) return {1, 0};
  if (IsZero(x) && High(y.im) == 0 && High(y.re) > 0) return {0, 0};
  return Exponential(y * Logarithm(x));
}

// -i log((x + i y) / sqrt(x^2 + y^2))
template <typename W>
Z<W> ComplexAtan2(Z<W> y, Z<W> x) {
  const Z<W> log = Logarithm(Divide(x + Z<W>{-y.im, y.re}, SquareRoot(x * x + y * y)));
  return {log.im, -log.re};
}

// The hyperbolic sine and cosine of |x|; both e^|x| / 2 beyond what is left of e^-|x|.
template <typename W>
void HyperbolicParts(W x, W& sinh, W& cosh) {
  const W a = Magnitude(x);
  const W less = Expm1(a), power = less + W(1);
  const bool is_large = High(a) > 40;
  sinh = is_large ? power / W(2) : (less + less / power) / W(2);
  cosh = is_large ? sinh : (power + W(1) / power) / W(2);
  sinh = WithSign(sinh, x);
}

// sin a cosh b + i cos a sinh b, and so on; by halves where e^|b| may be infinite.
template <typename W>
Z<W> Trigonometric(Z<W> z, bool is_cosine) {
  W sine, cosine, sinh, cosh;
  SineAndCosine(z.re, sine, cosine);
  const W of_cosh = is_cosine ? cosine : sine, of_sinh = is_cosine ? -sine : cosine;
  if (High(Magnitude(z.im)) > 700) {
    const W root = Exp(Magnitude(z.im) / W(2));
    const Z<W> half = {of_cosh * root / W(2), WithSign(of_sinh * root / W(2), z.im)};
    return {half.re * root, half.im * root};
  }
  HyperbolicParts(z.im, sinh, cosh);
  return {of_cosh * cosh, of_sinh * sinh};
}
template <typename W>
Z<W> Sine(Z<W> z) {
  return Trigonometric(z, false);
}
template <typename W>
Z<W> Cosine(Z<W> z) {
  return Trigonometric(z, true);
}

// (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b): no difference loses digits.
template <typename W>
Z<W> Tanh(Z<W> z) {
  W sine, cosine, sinh, cosh;
  SineAndCosine(z.im, sine, cosine);
  if (High(Magnitude(z.re)) > 40) {
    const W root = Exp(-Magnitude(z.re));
    return {WithSign(W(1), z.re), W(4) * sine * cosine * root * root};
  }
  HyperbolicParts(z.re, sinh, cosh);
  const W size = sinh * sinh + cosine * cosine;
  return {sinh * cosh / size, sine * cosine / size};
}
template <typename W>
Z<W> Tangent(Z<W> z) {
  const Z<W> turned = Tanh(Z<W>{-z.im, z.re});
  return {turned.im, -turned.re};
}

// -i sin(i z) and cos(i z).
template <typename W>
Z<W> HyperbolicSine(Z<W> z) {
  const Z<W> turned = Sine(Z<W>{-z.im, z.re});
  return {turned.im, -turned.re};
}
template <typename W>
Z<W> HyperbolicCosine(Z<W> z) {
  return Cosine(Z<W>{-z.im, z.re});
}

// The argument is real. The square of a large one may be infinite, and adds nothing there.
template <typename W>
W AreaSine(W x) {
  const W a = Magnitude(x);
  const bool is_large = High(a) > 1e12;
  const W result =
      is_large ? Log(a) + LogOfTwo<W>() : Log1p(a + a * a / (W(1) + Sqrt(W(1) + a * a)));
  return WithSign(result, x);
}

// The roots of 1 - z and 1 + z, of which the inverse functions are made so that no sum in them
// cancels (W. Kahan, Branch cuts for complex elementary functions, 1987).
template <typename W>
struct Roots {
  explicit Roots(Z<W> z)
      : less(SquareRoot(Z<W>{W(1) - z.re, -z.im})), more(SquareRoot(Z<W>{W(1) + z.re, z.im})) {}
  Z<W> less, more;
};

// So far out that one is nothing beside z: there log(2 |z|) and the angle are all that is left, and
// the formulas for what is nearer would overflow.
template <typename W>
bool IsFar(Z<W> z) {
  return ExponentOf(z) > 100;
}
template <typename W>
W FarLogarithm(Z<W> z) {
  return LogOfModulus(z) + LogOfTwo<W>();
}
template <typename W>
W FarAngle(W y, W x) {
  const int exponent = ExponentOf(Z<W>{x, y});
  return Atan2(TimesPower(y, -exponent), TimesPower(x, -exponent));
}

template <typename W>
Z<W> ArcSine(Z<W> z) {
  if (IsFar(z)) return {FarAngle(z.re, Magnitude(z.im)), WithSign(FarLogarithm(z), z.im)};
  const Roots<W> roots(z);
  const Z<W> p = roots.less, q = roots.more;
  return {Atan2(z.re, p.re * q.re - p.im * q.im), AreaSine(p.re * q.im - p.im * q.re)};
}
template <typename W>
Z<W> ArcCosine(Z<W> z) {
  if (IsFar(z)) return {FarAngle(Magnitude(z.im), z.re), WithSign(FarLogarithm(z), -z.im)};
  const Roots<W> roots(z);
  const Z<W> p = roots.less, q = roots.more;
  return {W(2) * Atan2(p.re, q.re), AreaSine(q.re * p.im - q.im * p.re)};
}
template <typename W>
Z<W> AreaCosine(Z<W> z) {
  if (IsFar(z)) return {FarLogarithm(z), FarAngle(z.im, z.re)};
  const Z<W> p = SquareRoot(Z<W>{z.re - W(1), z.im}), q = SquareRoot(Z<W>{z.re + W(1), z.im});
  return {AreaSine(p.re * q.re + p.im * q.im), W(2) * Atan2(p.im, q.re)};
}
// -i asin(i z)
template <typename W>
Z<W> ComplexAreaSine(Z<W> z) {
  const Z<W> turned = ArcSine(Z<W>{-z.im, z.re});
  return {turned.im, -turned.re};
}

// log((1 + z) / (1 - z)) / 2. The real part is odd, and is computed where no difference in it
// loses digits; far out it is that of 1 / z.
template <typename W>
Z<W> AreaTangent(Z<W> z) {
  if (IsFar(z)) return {Divide(Z<W>{1, 0}, z).re, WithSign(Atan2(W(1), W(0)), z.im)};
  const W a = Magnitude(z.re), less = W(1) - a, more = W(1) + a, square = z.im * z.im;
  const Z<W> from_pole = {less, z.im};
  W real;
  if (IsZero(from_pole)) {
    real = std::numeric_limits<double>::infinity();
  } else if (ExponentOf(from_pole) < -30) {  // its square may be zero
    real = (LogOfModulus(Z<W>{more, z.im}) - LogOfModulus(from_pole)) / W(2);
  } else {
    real = Log1p(W(4) * a / (less * less + square)) / W(4);
  }
  return {WithSign(real, z.re), Atan2(W(2) * z.im, less * more - square) / W(2)};
}

template <typename W, Z<W> (*kFunction)(Z<W>)>
Parts OfComplex(double re, double im) {
  const Z<W> value = kFunction(Z<W>{re, im});
  return {static_cast<double>(value.re), static_cast<double>(value.im)};
}
template <typename W, Z<W> (*kFunction)(Z<W>, Z<W>)>
Parts OfTwoComplex(double a, double b, double c, double d) {
  const Z<W> value = kFunction(Z<W>{a, b}, Z<W>{c, d});
  return {static_cast<double>(value.re), static_cast<double>(value.im)};
}
template <typename W>
double AbsOfComplex(double re, double im) {
  return static_cast<double>(Modulus(Z<W>{re, im}));
}

}  // namespace

// All of them: ASSAY_COMPLEX(name, template) for one argument, ASSAY_COMPLEX_2 for two.
#define ASSAY_COMPLEX_FUNCTIONS(ASSAY_COMPLEX, ASSAY_COMPLEX_2) \
  ASSAY_COMPLEX(acos, ArcCosine)                                \
  ASSAY_COMPLEX(acosh, AreaCosine)                              \
  ASSAY_COMPLEX(asin, ArcSine)                                  \
  ASSAY_COMPLEX(asinh, ComplexAreaSine)                         \
  ASSAY_COMPLEX_2(atan2, ComplexAtan2)                          \
  ASSAY_COMPLEX(atanh, AreaTangent)                             \
  ASSAY_COMPLEX(cbrt, CubeRoot)                                 \
  ASSAY_COMPLEX(cosh, HyperbolicCosine)                         \
  ASSAY_COMPLEX(cosine, Cosine)                                 \
  ASSAY_COMPLEX_2(divide, Divide)                               \
  ASSAY_COMPLEX(exponential, Exponential)                       \
  ASSAY_COMPLEX(exponential_minus_one, ExpMinusOne)             \
  ASSAY_COMPLEX(log, Logarithm)                                 \
  ASSAY_COMPLEX(log_plus_one, LogPlusOne)                       \
  ASSAY_COMPLEX(logistic, Logistic)                             \
  ASSAY_COMPLEX_2(power, Power)                                 \
  ASSAY_COMPLEX(rsqrt, Rsqrt)                                   \
  ASSAY_COMPLEX(sign, Sign)                                     \
  ASSAY_COMPLEX(sine, Sine)                                     \
  ASSAY_COMPLEX(sinh, HyperbolicSine)                           \
  ASSAY_COMPLEX(sqrt, SquareRoot)                               \
  ASSAY_COMPLEX(tan, Tangent)                                   \
  ASSAY_COMPLEX(tanh, Tanh)

}  // namespace assay
