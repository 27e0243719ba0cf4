// Folds whose combiner is not a recognised op: it is applied as it stands, and in bound mode in
// several of the orders that the op allows, whose disagreement is undecided. Document: operation
// semantics chapter 10, "Order freedom".
#pragma once

#include "reference/ops/reduction/fold.h"

namespace assay::reference {

// The results of the fold by applying its combiner, in bound mode with their bounds.
absl::StatusOr<std::vector<Array>> FoldLiterally(Interpreter& interpreter, const FoldCall& call);

}  // namespace assay::reference
