// Blocks of ThreeFry and Philox on all threads.
#include "optimized/runtime/random.h"

#include "optimized/runtime/random_blocks.h"
#include "optimized/runtime/run_context.h"

namespace assay {
namespace {
constexpr int64_t kGrain = 1 << 14;  // blocks that are worth a thread
}  // namespace

void ThreeFryBits(const RunContext* context, const uint64_t* state, uint64_t* next, void* out,
                  int64_t count, int64_t bytes, int64_t mask, int64_t size, int64_t inner) {
  const random_blocks::RandomOutput output{out, count, bytes, static_cast<uint64_t>(mask)};
  const int64_t blocks = ThreeFryBlocks(output, size, inner);
  const uint64_t from[] = {state[0], state[1]};
  context->Split(blocks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) PutThreeFry(output, from, e, size, inner);
    *context->work += end - begin;
  });
  next[0] = from[0];
  next[1] = from[1] + static_cast<uint64_t>(blocks);
}

void PhiloxBits(const RunContext* context, const uint64_t* state, uint64_t* next, void* out,
                int64_t count, int64_t bytes, int64_t mask, int64_t words) {
  const random_blocks::RandomOutput output{out, count, bytes, static_cast<uint64_t>(mask)};
  const int64_t blocks = PhiloxBlocks(output);
  const uint64_t from[] = {state[0], state[1], words == 3 ? state[2] : 0};
  context->Split(blocks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) PutPhilox(output, from, words, j);
    *context->work += end - begin;
  });
  const random_blocks::Counter counter = random_blocks::PhiloxCounter(from, words, blocks);
  next[0] = from[0];
  next[1] = counter.low;
  if (words == 3) next[2] = counter.high;
}

void NextRandomState(RunContext* context, uint64_t* state, uint64_t delta) {
  auto& [low, high] = context->random_state;
  state[0] = low;
  state[1] = high;
  low += delta;
  high += low < delta ? 1 : 0;
}

int64_t ThreeFrySplitDimension(absl::Span<const int64_t> dimensions) {
  size_t longest = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] % 2 == 0) return static_cast<int64_t>(d);
    if (dimensions[d] > dimensions[longest]) longest = d;
  }
  return static_cast<int64_t>(longest);
}

}  // namespace assay
