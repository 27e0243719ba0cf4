// Random bits on GPUs: a thread per block of the generator. Thread 0 leaves the next state, which
// lies apart from the one that all read.
#include "optimized/runtime/random_blocks.h"

namespace assay {

using random_blocks::RandomOutput;

extern "C" {

void assay_device_three_fry(const uint64_t* state, uint64_t* next, void* out, int64_t count,
                            int64_t bytes, int64_t mask, int64_t size, int64_t inner,
                            int64_t thread) {
  const RandomOutput output{out, count, bytes, static_cast<uint64_t>(mask)};
  const int64_t blocks = ThreeFryBlocks(output, size, inner);
  if (thread < blocks) PutThreeFry(output, state, thread, size, inner);
  if (thread != 0) return;
  next[0] = state[0];
  next[1] = state[1] + static_cast<uint64_t>(blocks);
}

void assay_device_philox(const uint64_t* state, uint64_t* next, void* out, int64_t count,
                         int64_t bytes, int64_t mask, int64_t words, int64_t thread) {
  const RandomOutput output{out, count, bytes, static_cast<uint64_t>(mask)};
  const int64_t blocks = PhiloxBlocks(output);
  if (thread < blocks) PutPhilox(output, state, words, thread);
  if (thread != 0) return;
  const random_blocks::Counter counter = random_blocks::PhiloxCounter(state, words, blocks);
  next[0] = state[0];
  next[1] = counter.low;
  if (words == 3) next[2] = counter.high;
}

}  // extern "C"
}  // namespace assay
