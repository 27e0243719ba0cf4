// Folds of one array whose combiner is a recognised op: sums and products are accumulated wide and
// rounded once. Document: operation semantics chapter 10, "Recognised combiners".
#pragma once

#include "reference/bounds/reduce.h"

namespace assay::reference {

// True if folds of elements of `type` by this combiner have a rule of their own; if not, the
// combiner is applied literally.
bool IsRecognisedOn(ElementType type, Opcode combiner, FoldRules rules);

// The fold as an array of `dimensions`, if `bounding` with its bounds. `op` gives the permissions.
absl::StatusOr<Array> FoldRecognised(const OpContext& op, bool bounding, const RecognisedFold& fold,
                                     absl::Span<const int64_t> dimensions);

}  // namespace assay::reference
