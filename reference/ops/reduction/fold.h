// Lists of elements combined by a computation: what reduce, reduce-window, scatter and
// select-and-scatter share. Document: operation semantics chapter 10, "Recognised combiners",
// "Order freedom", "Initial value".
#pragma once

#include <vector>

#include "reference/interpreter/interpreter.h"
#include "reference/values/fold_terms.h"

namespace assay::reference {

// A fold of N arrays. Per input k the result is an array of `dimensions` whose element o is
//   f(... f(f(init[InitOf(o)], input[terms[0]]), input[terms[1]]) ...)
// where f is the combiner, a computation of 2 N scalars that gives N, and InitOf and the list of
// terms of element o are those of `terms`.
struct FoldCall {
  const OpContext& op;
  const Computation& combiner;
  absl::Span<const Array* const> inputs, inits;
  const FoldTerms& terms;
  absl::Span<const int64_t> dimensions;
  FoldRules rules = {};
};

// The operands of an op that folds N arrays: the arrays first, then their initial values.
struct FoldOperands {
  std::vector<const Array*> inputs, inits;
};
FoldOperands FoldOperandsOf(const OpContext& op);

// True if the combiner has a meaning of its own for folds, on the inputs: then every result is
// visited once, and no list of its terms is made where it goes on from another.
bool IsFoldRecognised(const Computation& combiner, absl::Span<const Array* const> inputs,
                      FoldRules rules);

// The results of the fold, in bound mode with their bounds.
absl::StatusOr<std::vector<Array>> Fold(Interpreter& interpreter, const FoldCall& call);

}  // namespace assay::reference
