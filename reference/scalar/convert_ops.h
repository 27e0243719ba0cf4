// Conversion of one element. Document: operation semantics chapter 8.
#pragma once

#include <cmath>
#include <limits>

#include "reference/scalar/arithmetic.h"

namespace assay::reference {

// NaN becomes 0; other values are rounded towards zero, then clamped to the range of To.
template <typename To, typename W>
To SaturatingTruncate(W x) {
  if (std::isnan(x)) return 0;
  const W truncated = std::trunc(x);
  // Both limits are powers of two, exact in W; `above` is the first value beyond the range.
  constexpr int kDigits = std::numeric_limits<To>::digits;
  const W above = std::ldexp(W{1}, kDigits);
  if (truncated >= above) return std::numeric_limits<To>::max();
  const W lowest = std::is_signed_v<To> ? -above : W{0};
  if (truncated <= lowest) return std::numeric_limits<To>::min();
  return static_cast<To>(truncated);
}

template <typename To, typename From>
To ConvertElement(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIsPred<To>) {
    if constexpr (kIsReal<From>) {
      return Widen<Wide<From>>(x) != 0;  // NaN is true
    } else {
      return x != 0;
    }
  } else if constexpr (kIsInteger<To>) {
    if constexpr (kIsReal<From>) {
      return SaturatingTruncate<To>(Widen<Wide<From>>(x));
    } else {
      return static_cast<To>(x);  // extends by the signedness of From, keeps the low bits
    }
  } else if constexpr (kIsReal<From>) {
    return Round<To>(Widen<double>(x));
  } else if constexpr (kIsNarrow<To>) {
    // Rounds once, from the exact integer: double would round large ones before.
    const bool negative = x < From{0};
    const uint64_t magnitude =
        negative ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    constexpr ElementType kType = std::is_same_v<To, Half> ? ElementType::kF16 : ElementType::kBF16;
    To result;
    result.bits = static_cast<uint16_t>(EncodeInteger(Format(kType), magnitude, negative));
    return result;
  } else {
    return static_cast<To>(x);
  }
}

// Rounds one code to a format of the given exponent and mantissa bits, within its own format. A NaN
// of either sign becomes +infinity where no mantissa is left (operation semantics 8).
uint64_t ReducePrecision(const FloatFormat& format, int exponent_bits, int mantissa_bits,
                         uint64_t code);

}  // namespace assay::reference
