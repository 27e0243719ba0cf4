// The hidden stream of random bits.
#include "reference/scalar/random_bits.h"

#include <bit>

namespace assay::reference {

std::array<uint32_t, 2> ThreeFry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], 0x1BD11BDAu ^ key[0] ^ key[1]};
  uint32_t x0 = counter[0] + keys[0], x1 = counter[1] + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = static_cast<uint64_t>(c[0]) * 0xD2511F53u;
    const uint64_t q = static_cast<uint64_t>(c[2]) * 0xCD9E8D57u;
    c = {HighWord(q) ^ c[1] ^ key[0], LowWord(q), HighWord(p) ^ c[3] ^ key[1], LowWord(p)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

}  // namespace assay::reference
