// Conditionals as selects between the results of their branches.
#pragma once

#include <cstdint>

#include "spec/ir/module.h"

namespace assay {

inline int64_t BranchCount(const Instruction& conditional) {
  return static_cast<int64_t>(conditional.callees().size());
}

// True if the branch takes what the conditional hands it and gives what the conditional gives.
bool HasMatchingShapes(const Instruction& conditional, int64_t branch);

// True if all branches match and give arrays of static shape, or a tuple of such.
bool CanSelectBranches(const Instruction& conditional);

// Adds copies of all branches beside the conditional, and selects between their results. An index
// out of range takes the last branch. Document: operation semantics, Conditional.
Instruction* SelectBranches(Instruction* conditional);

}  // namespace assay
