// Functions of complex numbers as compiled code calls them, in one template per function.
#include "optimized/runtime/complex_functions.h"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace assay {
namespace {

// Returned in two registers, as the struct that compiled code expects.
struct Parts {
  double re, im;
};

template <typename W>
using Z = std::complex<W>;

template <typename W>
Z<W> ExpMinusOne(Z<W> z) {
  const W half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

template <typename W>
Z<W> LogPlusOne(Z<W> z) {
  const W a = z.real(), b = z.imag();
  // Far from zero nothing cancels, and the squares could overflow.
  if (!(std::abs(a) < 1 && std::abs(b) < 1)) return std::log(W(1) + z);
  // |1 + z|^2 - 1. Below a half of one it would lose its digits; there 1 + a is exact.
  const W excess = a * (a + 2) + b * b;
  const W size = excess > W(-0.5) ? std::log1p(excess) / 2 : std::log(std::hypot(1 + a, b));
  return {size, std::atan2(b, 1 + a)};
}

template <typename W>
Z<W> Logistic(Z<W> z) {
  return W(1) / (W(1) + std::exp(-z));
}

template <typename W>
Z<W> Rsqrt(Z<W> z) {
  return W(1) / std::sqrt(z);
}

template <typename W>
Z<W> Cbrt(Z<W> z) {
  if (z == Z<W>(0)) return z;
  return std::exp(std::log(z) / W(3));
}

template <typename W>
Z<W> Sign(Z<W> z) {
  const W nan = std::numeric_limits<W>::quiet_NaN();
  if (std::isnan(z.real()) || std::isnan(z.imag())) return {nan, nan};
  if (z == Z<W>(0)) return {0, 0};
  return z / std::abs(z);
}

template <typename W>
Z<W> Power(Z<W> x, Z<W> y) {
  if (y == Z<W>(0)) return {1, 0};
  if (x == Z<W>(0) && y.imag() == 0 && y.real() > 0) return {0, 0};
  return std::exp(y * std::log(x));
}

template <typename W>
Z<W> Divide(Z<W> x, Z<W> y) {
  return x / y;
}

// -i log((x + i y) / sqrt(x^2 + y^2))
template <typename W>
Z<W> Atan2(Z<W> y, Z<W> x) {
  const Z<W> i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
}

template <typename W, Z<W> (*kFunction)(Z<W>)>
Parts Unary(double re, double im) {
  const Z<W> value = kFunction(Z<W>(re, im));
  return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
}

template <typename W, Z<W> (*kFunction)(const Z<W>&)>
Parts Library(double re, double im) {
  const Z<W> value = kFunction(Z<W>(re, im));
  return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
}

template <typename W, Z<W> (*kFunction)(Z<W>, Z<W>)>
Parts Binary(double a, double b, double c, double d) {
  const Z<W> value = kFunction(Z<W>(a, b), Z<W>(c, d));
  return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
}

template <typename W>
double Abs(double re, double im) {
  return static_cast<double>(std::hypot(static_cast<W>(re), static_cast<W>(im)));
}

template <typename F>
void* Address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

absl::Span<const RuntimeSymbol> ComplexSymbols() {
  static const auto& symbols = *new std::vector<RuntimeSymbol>{
#define ASSAY_BOTH(name, ...)              \
  {"assay_complex_" name "_c64",           \
   [] {                                    \
     using W = double;                     \
     return Address(__VA_ARGS__);          \
   }()},                                   \
      {"assay_complex_" name "_c128", [] { \
         using W = long double;            \
         return Address(__VA_ARGS__);      \
       }()}
      ASSAY_BOTH("abs", Abs<W>),
      ASSAY_BOTH("atan2", Binary<W, Atan2<W>>),
      ASSAY_BOTH("cbrt", Unary<W, Cbrt<W>>),
      ASSAY_BOTH("cosine", Library<W, std::cos<W>>),
      ASSAY_BOTH("divide", Binary<W, Divide<W>>),
      // That of c128 is among the functions of f64.
      {"assay_complex_exponential_c64", Address(Library<double, std::exp<double>>)},
      ASSAY_BOTH("exponential_minus_one", Unary<W, ExpMinusOne<W>>),
      ASSAY_BOTH("log", Library<W, std::log<W>>),
      ASSAY_BOTH("log_plus_one", Unary<W, LogPlusOne<W>>),
      ASSAY_BOTH("logistic", Unary<W, Logistic<W>>),
      ASSAY_BOTH("power", Binary<W, Power<W>>),
      ASSAY_BOTH("rsqrt", Unary<W, Rsqrt<W>>),
      ASSAY_BOTH("sign", Unary<W, Sign<W>>),
      ASSAY_BOTH("sine", Library<W, std::sin<W>>),
      ASSAY_BOTH("sqrt", Library<W, std::sqrt<W>>),
      ASSAY_BOTH("tan", Library<W, std::tan<W>>),
      ASSAY_BOTH("tanh", Library<W, std::tanh<W>>),
#undef ASSAY_BOTH
  };
  return symbols;
}

}  // namespace assay
