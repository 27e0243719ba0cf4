// The counter-based generators behind rng-bit-generator. Document: operation semantics chapter 13,
// RngBitGenerator; Salmon et al., Parallel random numbers: as easy as 1, 2, 3.
#pragma once

#include <array>
#include <cstdint>

namespace assay::reference {

// Threefry-2x32 with 20 rounds.
std::array<uint32_t, 2> ThreeFry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key);
// Philox-4x32 with 10 rounds.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

inline uint32_t LowWord(uint64_t x) { return static_cast<uint32_t>(x); }
inline uint32_t HighWord(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// The stream of an rng that keeps its state to itself: every call gives fresh bits.
class HiddenStream {
 public:
  uint64_t Next() {
    const std::array<uint32_t, 4> block =
        Philox({LowWord(drawn_), HighWord(drawn_), 0, 0}, {0x5EED5EEDu, 0});
    ++drawn_;
    return block[0] | static_cast<uint64_t>(block[1]) << 32;
  }

 private:
  uint64_t drawn_ = 0;
};

}  // namespace assay::reference
