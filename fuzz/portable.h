// Finds what implementations of HLO other than ours do not promise, though our contract does: a
// reducer that is no plain combiner, an initial value that is not its identity, a comparator of a
// sort that is no order. Wrong values of them must not depend on it, and reduction must not slide
// there. Document: operation semantics
// chapter 10 ("when comparing with foreign XLA keep init an identity").
#pragma once

#include <vector>

#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

// Numbers of instructions that use something that is not promised, and of those that may do so:
// what they call has branches, loops or reductions of its own, or is long.
struct UnportableCount {
  int64_t certain = 0, possible = 0;

  int64_t Total() const { return certain + possible; }
  // A reducer that only may be no plain combiner is better than one that is none.
  bool IsWorseThan(const UnportableCount& other) const {
    return certain > other.certain || Total() > other.Total();
  }
};

// `inputs` hold initial values that are parameters.
UnportableCount UnportableUses(const Module& module, const std::vector<Literal>& inputs);

}  // namespace assay
