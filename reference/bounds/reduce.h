// Bounds of folds whose combiner is one of the recognised ops. Document: operation semantics
// chapter 10, "Recognised combiners" and "Order freedom".
#pragma once

#include "reference/values/fold_terms.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// A fold of one array by a recognised combiner.
struct RecognisedFold {
  Opcode combiner;
  const Array& input;
  const Array& init;
  const FoldTerms& terms;
  FoldRules rules;
};

// Fills the bounds of `result`, whose literal is the plain value.
void BoundRecognisedFold(const OpContext& op, const RecognisedFold& fold, Array& result);

}  // namespace assay::reference
