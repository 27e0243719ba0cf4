// ThreeFry and Philox, one block at a time, and where a block's numbers go: for the runtime and for
// GPUs. Document: operation semantics chapter 13.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace assay {
namespace random_blocks {

inline uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
inline uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
inline uint64_t Join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

struct Pair {
  uint32_t x0, x1;
};

// Threefry-2x32 with 20 rounds.
inline Pair ThreeFry(uint64_t counter, uint64_t key) {
  const uint32_t keys[] = {Low(key), High(key), 0x1BD11BDAu ^ Low(key) ^ High(key)};
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t x0 = Low(counter) + keys[0], x1 = High(counter) + keys[1];
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

using Block = std::array<uint32_t, 4>;

// Philox-4x32 with 10 rounds.
inline Block Philox(uint64_t low, uint64_t high, uint64_t key) {
  Block c = {Low(low), High(low), Low(high), High(high)};
  uint32_t k0 = Low(key), k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{c[0]} * 0xD2511F53u, q = uint64_t{c[2]} * 0xCD9E8D57u;
    c = {High(q) ^ c[1] ^ k0, Low(q), High(p) ^ c[3] ^ k1, Low(p)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// An array of random bits.
struct RandomOutput {
  void* out;
  int64_t count, bytes;  // elements, and bytes of one
  uint64_t mask;         // of the bits that an element has

  void Put(int64_t at, uint64_t value) const {
    char* to = static_cast<char*>(out) + at * bytes;
    value &= mask;
    switch (bytes) {
      case 1:
        return Copy<uint8_t>(to, value);
      case 2:
        return Copy<uint16_t>(to, value);
      case 4:
        return Copy<uint32_t>(to, value);
      default:
        return Copy<uint64_t>(to, value);
    }
  }

 private:
  template <typename T>
  static void Copy(char* to, uint64_t value) {
    const T narrow = static_cast<T>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  }
};

// Pairs lie along a dimension of `size` elements that are `inner` apart.
inline int64_t ThreeFryBlocks(const RandomOutput& output, int64_t size, int64_t inner) {
  if (output.bytes == 8) return output.count;
  const int64_t outer = size * inner == 0 ? 0 : output.count / (size * inner);
  return outer * ((size + 1) / 2) * inner;
}
inline void PutThreeFry(const RandomOutput& output, const uint64_t* state, int64_t e, int64_t size,
                        int64_t inner) {
  const Pair pair = ThreeFry(state[1] + static_cast<uint64_t>(e), state[0]);
  if (output.bytes == 8) return output.Put(e, Join(pair.x0, pair.x1));
  const int64_t half = (size + 1) / 2, line = e / inner, h = line % half;
  const int64_t at = (line / half * size + 2 * h) * inner + e % inner;
  output.Put(at, pair.x0);
  if (2 * h + 1 < size) output.Put(at + inner, pair.x1);
}

inline int64_t PhiloxPerBlock(const RandomOutput& output) { return output.bytes == 8 ? 2 : 4; }
inline int64_t PhiloxBlocks(const RandomOutput& output) {
  const int64_t per_block = PhiloxPerBlock(output);
  return (output.count + per_block - 1) / per_block;
}
// The counter of a block: low and high word. `words` of the state: 2 (the key is also the high
// word) or 3.
struct Counter {
  uint64_t low, high;
};
inline Counter PhiloxCounter(const uint64_t* state, int64_t words, int64_t block) {
  const uint64_t low = state[1], high = words == 3 ? state[2] : state[0];
  const uint64_t sum = low + static_cast<uint64_t>(block);
  return {sum, high + (sum < low ? 1 : 0)};
}
inline void PutPhilox(const RandomOutput& output, const uint64_t* state, int64_t words, int64_t j) {
  const Counter counter = PhiloxCounter(state, words, j);
  const Block block = Philox(counter.low, counter.high, state[0]);
  const int64_t per_block = PhiloxPerBlock(output);
  for (int64_t k = 0; k < per_block && j * per_block + k < output.count; ++k) {
    output.Put(j * per_block + k,
               output.bytes == 8 ? Join(block[2 * k], block[2 * k + 1]) : block[k]);
  }
}

}  // namespace random_blocks
}  // namespace assay
