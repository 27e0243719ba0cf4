// Estimates how much of a program's time its kernels take: code that hardly counts is translated in
// the least time instead of being optimized.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/target/target.h"

namespace assay {

struct RunFrequency {
  absl::flat_hash_set<const BufferAssignment::Frame*> in_loops;  // called by loops, by any way
  absl::flat_hash_set<const Instruction*> cold;
};

RunFrequency EstimateRunFrequency(const BufferAssignment& buffers, const Target& target);

}  // namespace assay
