#include "reference/op_evaluations.h"

#include <array>

#include "spec/backend/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

using Table = std::array<const OpEvaluation*, kOpcodeCount>;

Table MakeTable() {
  Table table{};
  for (absl::Span<const OpEvaluation> family :
       {ElementwiseUnaryEvaluations(), ElementwiseBinaryEvaluations(),
        ElementwiseTernaryEvaluations(), ConvertEvaluations(), DataMovementEvaluations(),
        DynamicSliceEvaluations(), ReduceEvaluations(), DotEvaluations(), ControlFlowEvaluations(),
        StructureEvaluations()}) {
    for (const OpEvaluation& row : family) table[static_cast<int>(row.opcode)] = &row;
  }
  return table;
}

}  // namespace

const OpEvaluation* FindEvaluation(Opcode opcode) {
  static const Table table = MakeTable();
  return table[static_cast<int>(opcode)];
}

absl::Status UnsupportedType(const OpContext& op, ElementType type) {
  return MakeError(ErrorClass::kUnsupported,
                   StrCat(op.instruction.name(), ": the oracle does not evaluate ",
                          Name(op.instruction.opcode()), " on ", Name(type)));
}

}  // namespace assay::reference
