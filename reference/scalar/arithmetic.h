// The C++ types in which the scalars of each element type are computed.
// Document: operation semantics 1.2 (integers wrap), 1.4 rule 5 (narrow floats are computed wide
// and rounded once), 1.6 (functions are evaluated with about twice the significand where
// practical).
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "spec/types/native.h"

namespace assay::reference {

template <typename T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
inline constexpr bool kIsReal = std::is_floating_point_v<T> || kIsNarrow<T>;
template <typename T>
inline constexpr bool kIsInteger = std::integral<T> && !std::is_same_v<T, bool>;
template <typename T>
inline constexpr bool kIsPred = std::is_same_v<T, bool>;

// The type in which the correctly rounded operations (+ - * / sqrt and exact ones) are done: their
// result, rounded once more for the narrow types, is the correctly rounded one.
template <typename T>
using Working = std::conditional_t<std::is_same_v<T, float>, float, double>;
// The type in which functions and bounds are computed, wide enough that one rounding remains.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

// Widening and the one rounding back. The narrow types convert from double in one rounding.
template <typename W, typename T>
W Widen(T value) {
  if constexpr (kIsNarrow<T>) {
    return static_cast<W>(static_cast<float>(value));
  } else {
    return static_cast<W>(value);
  }
}
template <typename T, typename W>
T Round(W value) {
  if constexpr (kIsNarrow<T>) {
    return T(static_cast<double>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Unsigned arithmetic of at least the width of T, so that nothing overflows or is promoted to int.
template <typename T>
using Modular = uint64_t;

}  // namespace assay::reference
