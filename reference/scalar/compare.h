// Comparison of two elements. Document: operation semantics chapter 6, Compare.
#pragma once

#include <bit>

#include "reference/scalar/arithmetic.h"
#include "spec/ir/instruction.h"

namespace assay::reference {

inline Direction DirectionOf(const Instruction& compare) {
  return static_cast<Direction>(compare.attributes().Integer(Attr::kDirection));
}

inline bool IsTotalOrder(const Instruction& compare) {
  return compare.attributes().Integer(Attr::kCompareType, -1) ==
         static_cast<int64_t>(CompareType::kTotalOrder);
}

template <typename W>
bool CompareOrdered(Direction direction, W a, W b) {
  switch (direction) {
    case Direction::kEq:
      return a == b;
    case Direction::kNe:
      return a != b;
    case Direction::kGe:
      return a >= b;
    case Direction::kGt:
      return a > b;
    case Direction::kLe:
      return a <= b;
    case Direction::kLt:
      return a < b;
  }
  return false;
}

// Quiet IEEE comparison of floats, ordinary comparison of integers and predicates.
template <typename T>
bool CompareValues(Direction direction, T a, T b) {
  if constexpr (kIsNarrow<T>) {
    return CompareOrdered(direction, static_cast<float>(a), static_cast<float>(b));
  } else {
    return CompareOrdered(direction, a, b);
  }
}

// The encoding as a number that is ordered like -NaN < -Inf < ... < -0 < +0 < ... < +Inf < +NaN.
template <typename T>
int64_t TotalOrderKey(T x) {
  if constexpr (kIsReal<T>) {
    using Signed = std::conditional_t<sizeof(T) == 2, int16_t,
                                      std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
    const int64_t code = std::bit_cast<Signed>(x);
    constexpr int64_t kMagnitude = std::numeric_limits<Signed>::max();
    return code >= 0 ? code : -(code & kMagnitude) - 1;
  } else {
    return static_cast<int64_t>(x);
  }
}

template <typename T>
bool CompareTotalOrder(Direction direction, T a, T b) {
  return CompareOrdered(direction, TotalOrderKey(a), TotalOrderKey(b));
}

}  // namespace assay::reference
