// The meaning of each element-wise binary op on one pair of elements. Document: operation semantics
// chapter 6.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "reference/scalar/arithmetic.h"

namespace assay::reference {

struct Add {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W a, W b) {
    return a + b;
  }
  template <typename T>
  static T Integer(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static bool Predicate(bool a, bool b) { return a || b; }
};

struct Subtract {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W a, W b) {
    return a - b;
  }
  template <typename T>
  static T Integer(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};

struct Multiply {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W a, W b) {
    return a * b;
  }
  template <typename T>
  static T Integer(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
  static bool Predicate(bool a, bool b) { return a && b; }
};

// The high half of the product in twice the width.
struct MultiplyHigh {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    using Product = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Product>(a) * static_cast<Product>(b)) >>
                          std::numeric_limits<std::make_unsigned_t<T>>::digits);
  }
};

struct Divide {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W a, W b) {
    return a / b;
  }
  // x/0 has all bits set; the smallest integer over -1 is itself.
  template <typename T>
  static T Integer(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
    return static_cast<T>(a / b);
  }
};

struct Remainder {
  static constexpr bool kWide = false;
  // The remainder has the sign of the dividend and is exact.
  template <typename W>
  static W Real(W a, W b) {
    return std::fmod(a, b);
  }
  // x rem 0 is x.
  template <typename T>
  static T Integer(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

struct Power {
  static constexpr bool kWide = true;
  template <typename W>
  static W Real(W a, W b) {
    return std::pow(a, b);
  }
  // All bits of the exponent count; a negative exponent leaves only bases 1 and -1.
  template <typename T>
  static T Integer(T base, T exponent) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == static_cast<T>(-1)) return (exponent & 1) != 0 ? static_cast<T>(-1) : T{1};
      return 0;
    }
    uint64_t result = 1, square = static_cast<uint64_t>(base);
    for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) result *= square;
      square *= square;
    }
    return static_cast<T>(result);
  }
};

struct Atan2 {
  static constexpr bool kWide = true;
  template <typename W>
  static W Real(W y, W x) {
    return std::atan2(y, x);
  }
};

// The result is NaN if either operand is; +0 counts as larger than -0.
struct Maximum {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W a, W b) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
  template <typename T>
  static T Integer(T a, T b) {
    return a > b ? a : b;
  }
  static bool Predicate(bool a, bool b) { return a || b; }
};

struct Minimum {
  static constexpr bool kWide = false;
  template <typename W>
  static W Real(W a, W b) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
  template <typename T>
  static T Integer(T a, T b) {
    return a < b ? a : b;
  }
  static bool Predicate(bool a, bool b) { return a && b; }
};

struct And {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    return static_cast<T>(a & b);
  }
  static bool Predicate(bool a, bool b) { return a && b; }
};

struct Or {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    return static_cast<T>(a | b);
  }
  static bool Predicate(bool a, bool b) { return a || b; }
};

struct Xor {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    return static_cast<T>(a ^ b);
  }
  static bool Predicate(bool a, bool b) { return a != b; }
};

// The shift amount is an unsigned number of the same width; from the width on everything is
// shifted out.
template <typename T>
bool ShiftsOut(T amount) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(amount) >= std::numeric_limits<U>::digits;
}

struct ShiftLeft {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    return ShiftsOut(b) ? T{0} : static_cast<T>(static_cast<uint64_t>(a) << b);
  }
};

struct ShiftRightLogical {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    return ShiftsOut(b) ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >> b);
  }
};

struct ShiftRightArithmetic {
  static constexpr bool kWide = false;
  template <typename T>
  static T Integer(T a, T b) {
    const auto bits = static_cast<std::make_signed_t<T>>(a);
    if (ShiftsOut(b)) return static_cast<T>(bits < 0 ? -1 : 0);
    return static_cast<T>(bits >> b);
  }
};

}  // namespace assay::reference
