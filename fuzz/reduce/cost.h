// The size of a case as people who read it see it.
#pragma once

#include <compare>
#include <cstdint>

#include "fuzz/reduce/edit.h"

namespace assay {

// Most important first. A candidate is taken only if its cost is smaller, so every reduction ends.
struct ReduceCost {
  int64_t instructions = 0;
  int64_t computed = 0;  // instructions that are neither parameters nor constants
  int64_t computations = 0;
  int64_t header = 0;  // entries of the module's header
  int64_t elements = 0, ranks = 0, types = 0;
  int64_t attributes = 0;  // other than the plainest, and layouts likewise
  int64_t values = 0;

  auto operator<=>(const ReduceCost&) const = default;
};
ReduceCost CostOf(const ReduceCase& reduce_case);

}  // namespace assay
