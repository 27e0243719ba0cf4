#include "reference/values/op_evaluations.h"

#include <array>

#include "reference/values/complex.h"
#include "reference/values/data_evaluations.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

using Table = std::array<const OpEvaluation*, kOpcodeCount>;

Table MakeTable(std::initializer_list<absl::Span<const OpEvaluation>> families) {
  Table table{};
  for (absl::Span<const OpEvaluation> family : families) {
    for (const OpEvaluation& row : family) table[static_cast<int>(row.opcode)] = &row;
  }
  return table;
}

}  // namespace

const OpEvaluation* FindEvaluation(Opcode opcode) {
  static const Table table = MakeTable({ElementwiseUnaryEvaluations(),
                                        ElementwiseBinaryEvaluations(),
                                        ElementwiseTernaryEvaluations(),
                                        ConvertEvaluations(),
                                        DataMovementEvaluations(),
                                        DynamicSliceEvaluations(),
                                        ReduceEvaluations(),
                                        WindowEvaluations(),
                                        GatherEvaluations(),
                                        ScatterEvaluations(),
                                        SortEvaluations(),
                                        TopKEvaluations(),
                                        MapEvaluations(),
                                        ScanEvaluations(),
                                        BatchNormEvaluations(),
                                        DynamicShapeEvaluations(),
                                        DotEvaluations(),
                                        ConvolutionEvaluations(),
                                        LinearAlgebraEvaluations(),
                                        FftEvaluations(),
                                        CustomCallEvaluations(),
                                        RngEvaluations(),
                                        RngBitGeneratorEvaluations(),
                                        ControlFlowEvaluations(),
                                        StructureEvaluations(),
                                        ComplexPartEvaluations(),
                                        CollectiveEvaluations(),
                                        TransferEvaluations()});
  return table[static_cast<int>(opcode)];
}

const OpEvaluation* FindComplexEvaluation(Opcode opcode) {
  static const Table table =
      MakeTable({ComplexArithmeticEvaluations(), ComplexFunctionEvaluations()});
  return table[static_cast<int>(opcode)];
}

absl::Status UnsupportedType(const OpContext& op, ElementType type) {
  return MakeError(ErrorClass::kUnsupported,
                   StrCat(op.instruction.name(), ": the oracle does not evaluate ",
                          Name(op.instruction.opcode()), " on ", Name(type)));
}

}  // namespace assay::reference
