// The tables of rows, made from the families, and the choice of the row for the types at hand.
#include "reference/interpreter/op_evaluations.h"

#include <algorithm>
#include <array>

#include "reference/values/narrow_types.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

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

const OpEvaluation* FindNarrowIntegerEvaluation(Opcode opcode) {
  static const Table table = MakeTable({NarrowIntegerEvaluations()});
  return table[static_cast<int>(opcode)];
}

bool IsNarrowInteger(ElementType type) { return IsNarrowType(type) && !IsFloat(type); }

// True if the result or an array operand has a type with the property.
bool HasTypeThat(const OpContext& op, bool (*is)(ElementType)) {
  if (op.shape.IsArray() && is(op.type())) return true;
  return std::any_of(op.operands.begin(), op.operands.end(), [is](const Value* operand) {
    return !operand->IsTuple() && is(operand->array->literal.element_type());
  });
}

bool HasComplexType(const OpContext& op) { return HasTypeThat(op, IsComplex); }
bool GivesNarrowIntegers(const OpContext& op) {
  return op.shape.IsArray() && IsNarrowInteger(op.type());
}

// The rows that take the place of an op's own: the first whose condition holds decides.
struct SpecialRows {
  bool (*applies)(const OpContext& op);
  const OpEvaluation* (*find)(Opcode opcode);
  bool are_for_narrow_types;
};
constexpr SpecialRows kSpecialRows[] = {
    {HasComplexType, FindComplexEvaluation, false},
    {GivesNarrowIntegers, FindNarrowIntegerEvaluation, true},
};

}  // namespace

const OpEvaluation* FindEvaluation(Opcode opcode) {
  static const Table table = MakeTable({ElementwiseUnaryEvaluations(),
                                        ElementwiseBinaryEvaluations(),
                                        ElementwiseTernaryEvaluations(),
                                        ConvertEvaluations(),
                                        ComplexPartEvaluations(),
                                        DataMovementEvaluations(),
                                        DynamicSliceEvaluations(),
                                        DynamicShapeEvaluations(),
                                        GatherEvaluations(),
                                        ScatterEvaluations(),
                                        ReduceEvaluations(),
                                        WindowEvaluations(),
                                        MapEvaluations(),
                                        ScanEvaluations(),
                                        BatchNormEvaluations(),
                                        SortEvaluations(),
                                        TopKEvaluations(),
                                        DotEvaluations(),
                                        ConvolutionEvaluations(),
                                        LinearAlgebraEvaluations(),
                                        FftEvaluations(),
                                        CustomCallEvaluations(),
                                        RngEvaluations(),
                                        RngBitGeneratorEvaluations(),
                                        ControlFlowEvaluations(),
                                        StructureEvaluations(),
                                        CollectiveEvaluations(),
                                        TransferEvaluations()});
  return table[static_cast<int>(opcode)];
}

const OpEvaluation* FindComplexEvaluation(Opcode opcode) {
  static const Table table =
      MakeTable({ComplexArithmeticEvaluations(), ComplexFunctionEvaluations()});
  return table[static_cast<int>(opcode)];
}

EvaluationRow RowFor(const OpEvaluation& general, const OpContext& op) {
  const Opcode opcode = op.instruction.opcode();
  const OpEvaluation* row = &general;
  bool is_for_narrow_types = false;
  for (const SpecialRows& rows : kSpecialRows) {
    if (!rows.applies(op)) continue;
    if (const OpEvaluation* special = rows.find(opcode); special != nullptr) {
      row = special;
      is_for_narrow_types = rows.are_for_narrow_types;
    }
    break;
  }
  const bool takes_all = row->any_type || is_for_narrow_types || Info(opcode).Is(kDataMovement);
  return {row, !takes_all && HasTypeThat(op, IsNarrowType)};
}

absl::Status UnsupportedType(const OpContext& op, ElementType type) {
  return MakeError(ErrorClass::kUnsupported,
                   StrCat(op.instruction.name(), ": the oracle does not evaluate ",
                          Name(op.instruction.opcode()), " on ", Name(type)));
}

}  // namespace assay::reference
