// Counter-based random bits for compiled code. Document: operation semantics chapter 13
// (RngBitGenerator); Salmon et al., Parallel random numbers: as easy as 1, 2, 3.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace assay {

struct RunContext;

// Fills `out` with `count` numbers of `bytes` bytes (1, 2, 4 or 8) and `mask` applied, and writes
// the next state. `state` has `words` u64: two, or three for Philox. ThreeFry splits its pairs
// along a dimension of `size` elements, the dimensions behind which hold `inner` elements. Blocks
// depend on their numbers alone and are divided among the threads of `context`.
void ThreeFryBits(const RunContext* context, const uint64_t* state, uint64_t* next, void* out,
                  int64_t count, int64_t bytes, int64_t mask, int64_t size, int64_t inner);
void PhiloxBits(const RunContext* context, const uint64_t* state, uint64_t* next, void* out,
                int64_t count, int64_t bytes, int64_t mask, int64_t words);

// Writes the state of random numbers that the executable keeps on this device, low word first, and
// adds `delta` to it.
void NextRandomState(RunContext* context, uint64_t* state, uint64_t delta);

// The dimension along which ThreeFry's pairs lie: the first of even size, or the first of the
// largest.
int64_t ThreeFrySplitDimension(absl::Span<const int64_t> dimensions);

}  // namespace assay
