// Reductions that take one of two rows at each step, as those that look for the place of the
// largest element do. If several rows tie, the order may decide which comes out, but it is one of
// them, as a whole. Document: operation semantics chapter 10, "Order freedom".
#pragma once

#include <vector>

#include "reference/ops/reduction/fold.h"

namespace assay::reference {

// True if every result of the combiner is its own element of one and the same side, by one
// predicate: (select(p, a0, b0), select(p, a1, b1), ...).
bool SelectsRows(const Computation& combiner);

// The rows that are folded into some results: initial values and terms, with an element for each
// result, of every input.
struct FoldedRows {
  const std::vector<Value>& init;
  const std::vector<std::vector<Value>>& terms;
  absl::Span<const int64_t> results;  // linear indices in the result arrays
};

// Describes results as one of several rows that may come out. Leaves results alone for which
// rounding decides.
absl::Status BoundSelectedRows(Interpreter& interpreter, const FoldCall& call,
                               const FoldedRows& rows, std::vector<Array>& results);

}  // namespace assay::reference
