// Chooses between the fold of a recognised combiner and the literal one.
#include "reference/ops/reduction/fold.h"

#include "reference/ops/reduction/literal_fold.h"
#include "reference/ops/reduction/recognised_fold.h"
#include "spec/base/status_macros.h"
#include "spec/ir/reading/combiner.h"

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

bool IsFoldRecognised(const Computation& combiner, absl::Span<const Array* const> inputs,
                      FoldRules rules) {
  const std::optional<Opcode> opcode = ReadCombiner(combiner);
  return inputs.size() == 1 && opcode.has_value() &&
         IsRecognisedOn(inputs[0]->literal.element_type(), *opcode, rules);
}

absl::StatusOr<std::vector<Array>> Fold(Interpreter& interpreter, const FoldCall& call) {
  if (!IsFoldRecognised(call.combiner, call.inputs, call.rules))
    return FoldLiterally(interpreter, call);
  ASSAY_ASSIGN_OR_RETURN(
      Array result, FoldRecognised(call.op, interpreter.bounding(),
                                   {*ReadCombiner(call.combiner), *call.inputs[0], *call.inits[0],
                                    call.terms, call.rules},
                                   call.dimensions));
  std::vector<Array> results;
  results.push_back(std::move(result));
  return results;
}

}  // namespace assay::reference
