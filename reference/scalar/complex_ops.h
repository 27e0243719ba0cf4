// The meaning of complex functions on one element, evaluated in a type of about twice the
// significand, and how far an error of the operand reaches. Document: operation semantics chapters
// 5 and 6 ("Complex:" of each op).
//
// An Op has
//   static C Value(C z)              the function, where it is defined
//   static W Growth(C z, W reach)    an upper limit of |f(w) - f(z)| over all |w - z| <= reach;
//                                    infinity where there is none
// and may have Scale(z, value), the modulus to which its error is relative instead of |value|.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace assay::reference {

template <typename W>
inline constexpr W kUnlimited = std::numeric_limits<W>::infinity();

// |f(w) - f(z)| <= reach * sup |f'|: balls are convex.
template <typename W>
W Steepest(W reach, W slope) {
  return reach == 0 ? 0 : slope >= 0 ? reach * slope : kUnlimited<W>;  // NaN: no limit either
}

// True if the ball around z touches the cut along the negative real axis (zero included).
template <typename W>
bool TouchesCut(std::complex<W> z, W reach) {
  return reach != 0 && std::fabs(z.imag()) <= reach && z.real() <= reach;
}

struct ComplexFunction {
  template <typename W>
  static W Scale(std::complex<W>, std::complex<W> value) {
    return std::abs(value);
  }
  // The factor by which the scale is larger in profile xla, whose implementations take differences
  // of exponentials or follow the document's formula step by step: they lose what cancels. Measured
  // on XLA:CPU (jaxlib 0.10.2, 240,000 arguments per function and type, poles and zeros included):
  // sine, cosine, tan, tanh, logistic stay below 2 eps of the scale so enlarged.
  template <typename W>
  static W Cancellation(std::complex<W>, std::complex<W>) {
    return 1;
  }
};

struct ComplexExp : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::exp(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return reach == 0 ? 0 : std::exp(z.real()) * std::expm1(reach);
  }
};

// expm1(a) cos b - 2 sin^2(b / 2) + i e^a sin b: no cancellation near 0.
struct ComplexExpm1 : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    const W a = z.real(), b = z.imag(), half = std::sin(b / 2);
    return {std::expm1(a) * std::cos(b) - 2 * half * half, std::exp(a) * std::sin(b)};
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return ComplexExp::Growth(z, reach);
  }
  // Simple implementations subtract 1 from exp(z).
  template <typename W>
  static W Scale(std::complex<W> z, std::complex<W> value) {
    return std::max(std::abs(value), std::exp(z.real()));
  }
};

struct ComplexLog : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::log(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    if (TouchesCut(z, reach)) return kUnlimited<W>;
    return Steepest(reach, 1 / (std::abs(z) - reach));
  }
  // The logarithm of a modulus near 1 is off by the eps of the modulus.
  template <typename W>
  static W Cancellation(std::complex<W>, std::complex<W> value) {
    const W modulus = std::abs(value);
    return modulus > 0 && modulus < 1 ? 1 / modulus : W{1};
  }
};

// (log1p(a^2 + 2 a + b^2) / 2, atan2(b, 1 + a)).
struct ComplexLog1p : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    const W a = z.real(), b = z.imag();
    // The 1 does not matter where the square would overflow, and is exact where 1 + z is small.
    if (std::abs(z) > 2 || std::abs(W{1} + z) < W{0.5}) return std::log(W{1} + z);
    return {std::log1p(a * (a + 2) + b * b) / 2, std::atan2(b, 1 + a)};
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return ComplexLog::Growth(W{1} + z, reach);
  }
  // The size of the terms of the sum in comparison with |1 + z|^2, which it is less 1.
  template <typename W>
  static W Loss(std::complex<W> z) {
    return (std::norm(z) + 2 * std::fabs(z.real())) / std::norm(W{1} + z);
  }
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W> value) {
    const W modulus = std::abs(value);
    return modulus > 0 ? 1 + Loss(z) / modulus : W{1};
  }
};

struct ComplexSqrt : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::sqrt(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    // Near zero and across the cut both roots are within the square root of what |z| may be.
    if (TouchesCut(z, reach)) return 2 * std::sqrt(std::abs(z) + reach);
    return Steepest(reach, 1 / (2 * std::sqrt(std::abs(z) - reach)));
  }
};

struct ComplexRsqrt : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return W{1} / std::sqrt(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    if (TouchesCut(z, reach)) return kUnlimited<W>;
    const W nearest = std::abs(z) - reach;
    return Steepest(reach, 1 / (2 * nearest * std::sqrt(nearest)));
  }
};

// exp(log(z) / 3).
struct ComplexCbrt : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return z == std::complex<W>(0) ? z : std::polar(std::cbrt(std::abs(z)), std::arg(z) / 3);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    if (TouchesCut(z, reach)) return 2 * std::cbrt(std::abs(z) + reach);
    const W nearest = std::abs(z) - reach;
    return Steepest(reach, 1 / (3 * std::pow(nearest, W{2} / 3)));
  }
  // The exponential of a third of the logarithm, which is off by an eps of itself.
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W>) {
    return z == std::complex<W>(0) ? W{1} : 1 + std::abs(std::log(z)) / 8;
  }
};

struct ComplexSine : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return {std::sin(z.real()) * std::cosh(z.imag()), std::cos(z.real()) * std::sinh(z.imag())};
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return Steepest(reach, std::cosh(std::fabs(z.imag()) + reach));
  }
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W> value) {
    const W modulus = std::abs(value);
    return modulus == 0 ? W{1} : 1 + std::cosh(z.imag()) / modulus;
  }
};

struct ComplexCosine : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return {std::cos(z.real()) * std::cosh(z.imag()), -std::sin(z.real()) * std::sinh(z.imag())};
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return ComplexSine::Growth(z, reach);
  }
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W> value) {
    return ComplexSine::Cancellation(z, value);
  }
};

// tan(z) = -i tanh(i z).
struct ComplexTanh : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::tanh(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    // The slope is 1 / cosh^2, and |cosh z| is at least |sinh Re z|.
    const W a = std::fabs(z.real());
    W nearest = a > reach ? std::sinh(a - reach) : W{0};
    const W around = std::hypot(std::sinh(a), std::cos(z.imag())) - reach * std::cosh(a + reach);
    if (around > nearest) nearest = around;
    return Steepest(reach, 1 / nearest / nearest);
  }
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W>) {
    const W size = std::exp(std::fabs(z.real()));
    const W sine = std::abs(std::sinh(z)), cosine = std::abs(std::cosh(z));
    return std::isfinite(size) && sine > 0 ? 1 + size / sine + size / cosine : W{3};
  }
};

struct ComplexTan : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    const std::complex<W> t = std::tanh(std::complex<W>(-z.imag(), z.real()));
    return {t.imag(), -t.real()};
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return ComplexTanh::Growth(std::complex<W>(-z.imag(), z.real()), reach);
  }
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W> value) {
    return ComplexTanh::Cancellation(std::complex<W>(-z.imag(), z.real()), value);
  }
};

// 1 / (1 + exp(-z)); near its poles as (1 + tanh(z / 2)) / 2.
struct ComplexLogistic : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    if (z.real() > -1) return (W{1} + std::tanh(z / W{2})) / W{2};
    const std::complex<W> e = std::exp(z);
    return e / (W{1} + e);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return ComplexTanh::Growth(z / W{2}, reach / 2) / 2;
  }
  template <typename W>
  static W Cancellation(std::complex<W> z, std::complex<W>) {
    const std::complex<W> e = std::exp(std::fabs(z.real()) == z.real() ? -z : z);
    return 1 + (1 + std::abs(e)) / std::abs(W{1} + e);
  }
};

struct ComplexSinh : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::sinh(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return Steepest(reach, std::cosh(std::fabs(z.real()) + reach));
  }
};

struct ComplexCosh : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::cosh(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return ComplexSinh::Growth(z, reach);
  }
};

// The inverse functions have slopes 1 / sqrt(1 - z^2) and the like, and cuts on the axes from 1 or
// -1 outwards.
template <typename W>
W InverseGrowth(std::complex<W> z, W reach, bool root) {
  if (reach == 0) return 0;
  if (std::fabs(z.imag()) <= reach && std::fabs(z.real()) + reach >= 1) return kUnlimited<W>;
  const W nearest = std::abs(W{1} - z * z) - reach * (2 * std::abs(z) + reach);
  return Steepest(reach, 1 / (root ? std::sqrt(nearest) : nearest));
}

struct ComplexAsin : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::asin(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return InverseGrowth(z, reach, true);
  }
};

struct ComplexAcos : ComplexAsin {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::acos(z);
  }
};

struct ComplexAtanh : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::atanh(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return InverseGrowth(z, reach, false);
  }
};

// asinh(z) = -i asin(i z).
struct ComplexAsinh : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::asinh(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return InverseGrowth(std::complex<W>(-z.imag(), z.real()), reach, true);
  }
};

// Its cut reaches from 1 down the whole real axis.
struct ComplexAcosh : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return std::acosh(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    if (reach != 0 && std::fabs(z.imag()) <= reach && z.real() - reach <= 1) return kUnlimited<W>;
    const W nearest = std::abs(z * z - W{1}) - reach * (2 * std::abs(z) + reach);
    return Steepest(reach, 1 / std::sqrt(nearest));
  }
};

// z / |z|.
struct ComplexSign : ComplexFunction {
  template <typename W>
  static std::complex<W> Value(std::complex<W> z) {
    return z == std::complex<W>(0) ? std::complex<W>(0) : z / std::abs(z);
  }
  template <typename W>
  static W Growth(std::complex<W> z, W reach) {
    return reach == 0 ? 0 : std::min<W>(2, 2 * reach / std::abs(z));
  }
};

// Binary functions: Value(x, y), Growth(x, y, value, reach of x, reach of y).

struct ComplexDivide {
  template <typename W>
  static std::complex<W> Value(std::complex<W> x, std::complex<W> y) {
    const W scale = std::norm(y);
    return {(x.real() * y.real() + x.imag() * y.imag()) / scale,
            (x.imag() * y.real() - x.real() * y.imag()) / scale};
  }
  template <typename W>
  static W Growth(std::complex<W>, std::complex<W> y, std::complex<W> value, W reach_x, W reach_y) {
    const W nearest = std::abs(y) - reach_y;
    return nearest > 0 ? (reach_x + std::abs(value) * reach_y) / nearest : kUnlimited<W>;
  }
};

// exp(y log x); 0^0 is 1, and 0 to a positive real power 0.
struct ComplexPower {
  template <typename W>
  static std::complex<W> Value(std::complex<W> x, std::complex<W> y) {
    if (y == std::complex<W>(0)) return 1;
    if (x == std::complex<W>(0) && y.imag() == 0 && y.real() > 0) return 0;
    return std::exp(y * std::log(x));
  }
  template <typename W>
  static W Growth(std::complex<W> x, std::complex<W> y, std::complex<W> value, W reach_x,
                  W reach_y) {
    if (reach_x == 0 && reach_y == 0) return 0;
    if (x == std::complex<W>(0)) return kUnlimited<W>;
    const W log_reach = ComplexLog::Growth(x, reach_x), log = std::abs(std::log(x));
    const W reach = std::abs(y) * log_reach + log * reach_y + log_reach * reach_y;
    return std::abs(value) * std::expm1(reach);
  }
  // By how many eps of the modulus the formula is off if it is followed step by step. The logarithm
  // is off by an eps of itself and, near modulus 1, by one of the modulus; the product by sqrt(5) /
  // 2 of itself; the exponential makes relative errors of both, and adds its own.
  template <typename W>
  static W Steps(std::complex<W> x, std::complex<W> y) {
    if (x == std::complex<W>(0)) return 0;
    return 4 + W{2.2} * std::abs(y * std::log(x)) + std::abs(y);
  }
  template <typename W>
  static W Scale(std::complex<W> value) {
    return std::abs(value);
  }
};

// -i log((x + i y) / sqrt(x^2 + y^2)), arguments y then x.
struct ComplexAtan2 {
  template <typename W>
  static W Steps(std::complex<W>, std::complex<W>) {
    return 0;
  }
  // The number whose logarithm is taken has a modulus near 1 where the result is small.
  template <typename W>
  static W Scale(std::complex<W> value) {
    return std::max(std::abs(value), W{1});
  }
  template <typename W>
  static std::complex<W> Value(std::complex<W> y, std::complex<W> x) {
    const std::complex<W> i(0, 1), log = std::log((x + i * y) / std::sqrt(x * x + y * y));
    return {log.imag(), -log.real()};
  }
  template <typename W>
  static W Growth(std::complex<W> y, std::complex<W> x, std::complex<W>, W reach_y, W reach_x) {
    if (reach_x == 0 && reach_y == 0) return 0;
    // The slopes are x / (x^2 + y^2) and -y / (x^2 + y^2).
    const W size = std::max(std::abs(x) + reach_x, std::abs(y) + reach_y);
    // The number under the root may lie on either side of its cut.
    const W moved = 2 * size * (reach_x + reach_y);
    const std::complex<W> squares = x * x + y * y;
    if (squares.real() <= moved && std::fabs(squares.imag()) <= moved) return kUnlimited<W>;
    // So may what the logarithm is taken of.
    const std::complex<W> i(0, 1), sum = x + i * y, root = std::sqrt(squares);
    const W length = std::abs(root);
    const W off = (reach_x + reach_y) * (1 + std::abs(sum) * size / (length * length)) / length;
    const std::complex<W> quotient = sum / root;
    if (quotient.real() <= off && std::fabs(quotient.imag()) <= 2 * off) return kUnlimited<W>;
    const W nearest = std::abs(squares) - moved;
    return nearest > 0 ? size * (reach_x + reach_y) / nearest : kUnlimited<W>;
  }
};

}  // namespace assay::reference
