// Map. Document: operation semantics chapter 10, Map.
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/reduction/fold.h"

namespace assay::reference {
namespace {

absl::StatusOr<Value> ApplyMap(Interpreter& interpreter, const OpContext& op) {
  if (absl::Status status = interpreter.budget().Take(op.count()); !status.ok()) return status;
  if (absl::Status status = interpreter.memory().Check(op.shape.ByteSize()); !status.ok())
    return status;
  std::vector<Value> arguments;
  for (const Value* operand : op.operands) arguments.push_back(*operand);
  absl::StatusOr<std::vector<Value>> results =
      ApplyToElements(interpreter, *op.instruction.callee(), arguments, op.shape.dimensions());
  if (!results.ok()) return results.status();
  return std::move((*results)[0]);
}

}  // namespace

absl::Span<const OpEvaluation> MapEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kMap, nullptr, nullptr, ApplyMap},
  };
  return kRows;
}

}  // namespace assay::reference
