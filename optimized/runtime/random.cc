// ThreeFry and Philox, block by block.
#include "optimized/runtime/random.h"

#include <array>
#include <bit>
#include <cstring>

#include "optimized/runtime/run_context.h"

namespace assay {
namespace {

constexpr int64_t kGrain = 1 << 14;  // blocks that are worth a thread

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

struct Pair {
  uint32_t x0, x1;
};

// Threefry-2x32 with 20 rounds.
Pair ThreeFry(uint64_t counter, uint64_t key) {
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
Block Philox(uint64_t low, uint64_t high, uint64_t key) {
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

void Put(void* out, int64_t at, int64_t bytes, uint64_t value) {
  std::memcpy(static_cast<char*>(out) + at * bytes, &value, static_cast<size_t>(bytes));
}

}  // namespace

void ThreeFryBits(const RunContext* context, const uint64_t* state, uint64_t* next, void* out,
                  int64_t count, int64_t bytes, int64_t mask, int64_t size, int64_t inner) {
  const uint64_t key = state[0], counter = state[1];
  const int64_t half = (size + 1) / 2;
  const int64_t outer = size * inner == 0 ? 0 : count / (size * inner);
  const int64_t blocks = bytes == 8 ? count : outer * half * inner;
  context->Split(blocks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      const Pair pair = ThreeFry(counter + static_cast<uint64_t>(e), key);
      if (bytes == 8) {
        Put(out, e, 8, Join(pair.x0, pair.x1));
        continue;
      }
      const int64_t line = e / inner, h = line % half;
      const int64_t at = (line / half * size + 2 * h) * inner + e % inner;
      Put(out, at, bytes, pair.x0 & static_cast<uint64_t>(mask));
      if (2 * h + 1 < size) Put(out, at + inner, bytes, pair.x1 & static_cast<uint64_t>(mask));
    }
    *context->work += end - begin;
  });
  next[0] = key;
  next[1] = counter + static_cast<uint64_t>(blocks);
}

void PhiloxBits(const RunContext* context, const uint64_t* state, uint64_t* next, void* out,
                int64_t count, int64_t bytes, int64_t mask, int64_t words) {
  const uint64_t key = state[0], low = state[1], high = words == 3 ? state[2] : state[0];
  const int64_t per_block = bytes == 8 ? 2 : 4, blocks = (count + per_block - 1) / per_block;
  auto counter = [&](int64_t block) {
    const uint64_t sum = low + static_cast<uint64_t>(block);
    return std::pair<uint64_t, uint64_t>(sum, high + (sum < low ? 1 : 0));
  };
  context->Split(blocks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const auto [c_low, c_high] = counter(j);
      const Block block = Philox(c_low, c_high, key);
      for (int64_t k = 0; k < per_block && j * per_block + k < count; ++k) {
        const uint64_t value = bytes == 8 ? Join(block[2 * k], block[2 * k + 1])
                                          : block[k] & static_cast<uint64_t>(mask);
        Put(out, j * per_block + k, bytes, value);
      }
    }
    *context->work += end - begin;
  });
  const auto [next_low, next_high] = counter(blocks);
  next[0] = key;
  next[1] = next_low;
  if (words == 3) next[2] = next_high;
}

void NextRandomState(RunContext* context, uint64_t* state, uint64_t delta) {
  auto& [low, high] = context->random_state;
  state[0] = low;
  state[1] = high;
  low += delta;
  high += low < delta ? 1 : 0;
}

}  // namespace assay
