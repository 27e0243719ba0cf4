// Functions of integers that compiled code calls.
#pragma once

#include <cstdint>

namespace assay {

// base^exponent modulo 2^64, every bit of the exponent counted.
inline uint64_t PowerU64(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace assay
