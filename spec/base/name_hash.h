// A hash of names, eight bytes at a time. Debian's absl hashes std::string_view byte by byte
// through the standard library.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace assay {

struct NameHash {
  using is_transparent = void;

  size_t operator()(std::string_view name) const {
    const uint64_t seed = reinterpret_cast<uintptr_t>(&kHere) * kMultiplier;
    uint64_t hash = seed ^ name.size() * kMultiplier;
    const char* at = name.data();
    size_t left = name.size();
    for (; left > 8; at += 8, left -= 8) hash = Mix(hash ^ Load<uint64_t>(at), seed);
    return Mix(hash ^ UpToEight(at, left), seed);
  }

  // The bytes of a text of at most eight, without a call and without reading beyond it.
  static uint64_t UpToEight(const char* at, size_t count) {
    if (count >= 4) return Load<uint32_t>(at) | uint64_t{Load<uint32_t>(at + count - 4)} << 32;
    if (count == 0) return 0;
    return Load<uint8_t>(at) | uint64_t{Load<uint8_t>(at + count / 2)} << 8 |
           uint64_t{Load<uint8_t>(at + count - 1)} << 16;
  }

 private:
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

  // Names come from hostile text: where the program was loaded decides which of them collide.
  static inline const char kHere = 0;

  template <typename T>
  static T Load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
  static uint64_t Mix(uint64_t value, uint64_t seed) {
    const auto product = static_cast<__uint128_t>(value ^ seed) * kMultiplier;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
};

}  // namespace assay
