// Copies elements of one width that lie apart, for the inner loops of ops that move elements.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace assay::reference {

// Element `i` of `to` becomes element at(i) of `from`, for 0 <= i < `count`. `width` is that of an
// element in bytes: a power of two up to 16.
template <typename IndexOf>
void PickBytes(const uint8_t* from, size_t width, int64_t count, IndexOf at, uint8_t* to) {
  const auto pick = [&](auto constant) {
    constexpr size_t kWidth = decltype(constant)::value;
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + static_cast<size_t>(i) * kWidth, from + static_cast<size_t>(at(i)) * kWidth,
                  kWidth);
    }
  };
  switch (width) {
    case 1:
      return pick(std::integral_constant<size_t, 1>());
    case 2:
      return pick(std::integral_constant<size_t, 2>());
    case 4:
      return pick(std::integral_constant<size_t, 4>());
    case 8:
      return pick(std::integral_constant<size_t, 8>());
    default:
      return pick(std::integral_constant<size_t, 16>());
  }
}

}  // namespace assay::reference
