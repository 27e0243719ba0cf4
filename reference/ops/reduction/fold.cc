// Chooses between the fold of a recognised combiner and the literal one.
#include "reference/ops/reduction/fold.h"

#include "reference/ops/reduction/literal_fold.h"
#include "reference/ops/reduction/recognised_fold.h"
#include "reference/values/combiner.h"
#include "spec/base/status_macros.h"

namespace assay::reference {

FoldOperands FoldOperandsOf(const OpContext& op) {
  const auto arity = static_cast<int64_t>(op.operands.size() / 2);
  FoldOperands operands;
  for (int64_t n = 0; n < arity; ++n) {
    operands.inputs.push_back(&op.array(n));
    operands.inits.push_back(&op.array(arity + n));
  }
  return operands;
}

absl::StatusOr<std::vector<Array>> Fold(Interpreter& interpreter, const FoldCall& call) {
  if (call.inputs.size() != 1) return FoldLiterally(interpreter, call);
  const std::optional<Opcode> combiner = RecognisedCombiner(call.combiner);
  if (!combiner.has_value() ||
      !IsRecognisedOn(call.inputs[0]->literal.element_type(), *combiner, call.rules))
    return FoldLiterally(interpreter, call);
  ASSAY_ASSIGN_OR_RETURN(Array result, FoldRecognised(call.op, interpreter.bounding(),
                                                      {*combiner, *call.inputs[0], *call.inits[0],
                                                       call.terms, call.rules},
                                                      call.dimensions));
  std::vector<Array> results;
  results.push_back(std::move(result));
  return results;
}

}  // namespace assay::reference
