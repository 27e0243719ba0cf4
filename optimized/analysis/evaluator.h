// The compiler's own evaluation of constants: integers, predicates, the exactly rounded float
// operations and moves of data. Shares nothing with the oracle, so that a mistake in either shows.
// Document: operation semantics chapters 5 to 9.
#pragma once

#include "absl/types/span.h"
#include "spec/ir/instruction.h"

namespace assay {

// True if Evaluate knows the op of `inst` on its types, so that all results are exact or correctly
// rounded.
bool CanEvaluate(const Instruction& inst);

// The value of `inst` on `operands`, whose dimensions may differ from those of its own operands
// only by all being scalars (for elementwise ops: the value of one element). CanEvaluate must hold.
// Not for 0-element operands of pad and slice alone: those are fine. The result has `shape`.
Literal Evaluate(const Instruction& inst, absl::Span<const Literal* const> operands,
                 const Shape& shape);

}  // namespace assay
