// A seeded generator that gives the same numbers on every machine.
#pragma once

#include <cstdint>

namespace assay::reference {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // splitmix64
  uint64_t Bits() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }
  bool Coin() { return (Bits() & 1) != 0; }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  // In [0, 1), 53 random bits.
  double Unit() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }
  double Between(double low, double high) { return low + (high - low) * Unit(); }

 private:
  uint64_t state_;
};

}  // namespace assay::reference
