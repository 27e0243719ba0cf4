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

// The number of instructions that use something that is not promised. `inputs` hold initial values
// that are parameters.
int64_t UnportableUses(const Module& module, const std::vector<Literal>& inputs);

}  // namespace assay
