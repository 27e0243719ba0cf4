// Ops that carry values without reading them. Document: operation semantics chapters 4 and 17.
#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

absl::StatusOr<Value> ApplyTuple(Interpreter&, const OpContext& op) {
  std::vector<Value> elements;
  elements.reserve(op.operands.size());
  for (const Value* operand : op.operands) elements.push_back(*operand);
  return Value::Tuple(std::move(elements));
}

absl::StatusOr<Value> ApplyGetTupleElement(Interpreter&, const OpContext& op) {
  if (op.operands[0]->pending != nullptr && op.operands[0]->elements.empty()) {
    return MakeError(
        ErrorClass::kRejected,
        StrCat(op.instruction.name(), " reads an element of ", op.instruction.operand(0)->name(),
               ", which is still under way: its elements are known once it is done"));
  }
  return op.operands[0]->elements[op.instruction.tuple_index()];
}

// optimization-barrier, domain and copies of tuples return their operand.
absl::StatusOr<Value> ApplyIdentity(Interpreter&, const OpContext& op) { return *op.operands[0]; }

// Parameters and constants are read by the interpreter before it looks at rows.
absl::StatusOr<Value> ApplyRead(Interpreter&, const OpContext& op) {
  return absl::InternalError(StrCat(op.instruction.name(), ": evaluated as an op"));
}

}  // namespace

absl::Span<const OpEvaluation> StructureEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kParameter, .apply = ApplyRead},
      {.opcode = Opcode::kConstant, .apply = ApplyRead},
      {.opcode = Opcode::kTuple, .apply = ApplyTuple},
      {.opcode = Opcode::kGetTupleElement, .apply = ApplyGetTupleElement},
      {.opcode = Opcode::kCopy, .apply = ApplyIdentity},
      {.opcode = Opcode::kOptBarrier, .apply = ApplyIdentity},
      {.opcode = Opcode::kDomain, .apply = ApplyIdentity},
  };
  return kRows;
}

}  // namespace assay::reference
