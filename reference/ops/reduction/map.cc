// Map. Document: operation semantics chapter 10, Map.
#include "reference/interpreter/element_computation.h"
#include "reference/interpreter/op_evaluations.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

absl::StatusOr<Value> ApplyMap(Interpreter& interpreter, const OpContext& op) {
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(op.count()));
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(op.shape.ByteSize()));
  std::vector<Value> arguments;
  for (const Value* operand : op.operands) arguments.push_back(*operand);
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<Value> results,
      ApplyToElements(interpreter, *op.instruction.callee(), arguments, op.shape.dimensions()));
  return std::move(results[0]);
}

}  // namespace

absl::Span<const OpEvaluation> MapEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kMap, .apply = ApplyMap},
  };
  return kRows;
}

}  // namespace assay::reference
