// The meaning of each element-wise unary op on one element. Document: operation semantics
// chapter 5.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "reference/scalar/arithmetic.h"

namespace assay::reference {

// Exact ops.

struct Abs {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return std::fabs(x);
  }
  // The smallest integer stays itself.
  template <typename T>
  static T Integer(T x) {
    return x < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
  }
};

struct Negate {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return -x;
  }
  template <typename T>
  static T Integer(T x) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  }
};

struct Sign {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return x > 0 ? W{1} : x < 0 ? W{-1} : x;  // zeros and NaN are returned as they are
  }
  template <typename T>
  static T Integer(T x) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};

struct Not {
  static constexpr bool kWide = false;
  static bool Predicate(bool x) { return !x; }
  template <typename T>
  static T Integer(T x) {
    return static_cast<T>(~x);
  }
};

struct PopulationCount {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T x) {
    return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct CountLeadingZeros {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T x) {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct Ceil {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return std::ceil(x);
  }
};

struct Floor {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return std::floor(x);
  }
};

struct RoundNearestAfz {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return std::round(x);
  }
};

struct RoundNearestEven {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return std::nearbyint(x);  // the rounding mode is never changed from to-nearest-even
  }
};

struct Sqrt {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W x) {
    return std::sqrt(x);
  }
};

// Functions: evaluated wide, rounded once. `Monotone` ops also say where they are defined, between
// which values they lie, and at which arguments the result is exact for every implementation
// (operation semantics 1.8).

struct Function {
  static constexpr bool kWide = true;
  static constexpr bool kIncreasing = true;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr bool kEven = false;
  static constexpr double kDomainLow = -kInfinity;
  static constexpr double kDomainHigh = kInfinity;
  static constexpr double kRangeLow = -kInfinity;
  static constexpr double kRangeHigh = kInfinity;
  // The exact arguments beside NaN and the infinities.
  static bool IsExactAt(long double x) { return x == 0; }
};

struct Exp : Function {
  static constexpr double kRangeLow = 0;
  template <typename W>
  static W Real(W x) {
    return std::exp(x);
  }
};

struct Expm1 : Function {
  static constexpr double kRangeLow = -1;
  template <typename W>
  static W Real(W x) {
    return std::expm1(x);
  }
};

struct Log : Function {
  static constexpr double kDomainLow = 0;
  static bool IsExactAt(long double x) { return x == 0 || x == 1; }
  template <typename W>
  static W Real(W x) {
    return std::log(x);
  }
};

struct Log1p : Function {
  static constexpr double kDomainLow = -1;
  static bool IsExactAt(long double x) { return x == 0 || x == -1; }
  template <typename W>
  static W Real(W x) {
    return std::log1p(x);
  }
};

struct Rsqrt : Function {
  static constexpr bool kIncreasing = false;
  static constexpr double kDomainLow = 0;
  static constexpr double kRangeLow = 0;
  template <typename W>
  static W Real(W x) {
    return W{1} / std::sqrt(x);
  }
};

struct Cbrt : Function {
  template <typename W>
  static W Real(W x) {
    return std::cbrt(x);
  }
};

struct Tanh : Function {
  static constexpr double kRangeLow = -1;
  static constexpr double kRangeHigh = 1;
  template <typename W>
  static W Real(W x) {
    return std::tanh(x);
  }
};

struct Logistic : Function {
  static constexpr double kRangeLow = 0;
  static constexpr double kRangeHigh = 1;
  // This form has no overflow of exp for large negative x, and no cancellation.
  template <typename W>
  static W Real(W x) {
    if (x >= 0) return W{1} / (W{1} + std::exp(-x));
    const W e = std::exp(x);
    return e / (W{1} + e);
  }
};

struct Erf : Function {
  static constexpr double kRangeLow = -1;
  static constexpr double kRangeHigh = 1;
  template <typename W>
  static W Real(W x) {
    return std::erf(x);
  }
};

struct Acos : Function {
  static constexpr bool kIncreasing = false;
  static constexpr double kDomainLow = -1;
  static constexpr double kDomainHigh = 1;
  static constexpr double kRangeLow = 0;
  static bool IsExactAt(long double x) { return x == 1; }
  template <typename W>
  static W Real(W x) {
    return std::acos(x);
  }
};

struct Acosh : Function {
  static constexpr double kDomainLow = 1;
  static constexpr double kRangeLow = 0;
  static bool IsExactAt(long double x) { return x == 1; }
  template <typename W>
  static W Real(W x) {
    return std::acosh(x);
  }
};

struct Asin : Function {
  static constexpr double kDomainLow = -1;
  static constexpr double kDomainHigh = 1;
  template <typename W>
  static W Real(W x) {
    return std::asin(x);
  }
};

struct Asinh : Function {
  template <typename W>
  static W Real(W x) {
    return std::asinh(x);
  }
};

struct Atanh : Function {
  static constexpr double kDomainLow = -1;
  static constexpr double kDomainHigh = 1;
  static bool IsExactAt(long double x) { return x == 0 || x == 1 || x == -1; }
  template <typename W>
  static W Real(W x) {
    return std::atanh(x);
  }
};

struct Sinh : Function {
  template <typename W>
  static W Real(W x) {
    return std::sinh(x);
  }
};

struct Cosh : Function {
  static constexpr bool kEven = true;
  static bool IsExactAt(long double) { return false; }
  template <typename W>
  static W Real(W x) {
    return std::cosh(x);
  }
};

// Not monotone.

struct Sine : Function {
  static constexpr double kRangeLow = -1;
  static constexpr double kRangeHigh = 1;
  template <typename W>
  static W Real(W x) {
    return std::sin(x);
  }
};

struct Cosine : Function {
  static constexpr double kRangeLow = -1;
  static constexpr double kRangeHigh = 1;
  template <typename W>
  static W Real(W x) {
    return std::cos(x);
  }
};

struct Tan : Function {
  template <typename W>
  static W Real(W x) {
    return std::tan(x);
  }
};

}  // namespace assay::reference
