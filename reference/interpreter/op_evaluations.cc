// The tables of rows, made from the families, and the choice of the row for the types at hand.
#include "reference/interpreter/op_evaluations.h"

#include <array>

#include "absl/algorithm/container.h"
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
bool HasTypeThat(const Instruction& instruction, bool (*is)(ElementType)) {
  const auto is_such = [is](const Shape& shape) {
    return shape.IsArray() && is(shape.element_type());
  };
  return is_such(instruction.shape()) ||
         absl::c_any_of(instruction.operands(),
                        [&](const Instruction* operand) { return is_such(operand->shape()); });
}

bool HasComplexType(const Instruction& instruction) { return HasTypeThat(instruction, IsComplex); }
bool GivesNarrowIntegers(const Instruction& instruction) {
  return instruction.shape().IsArray() && IsNarrowInteger(instruction.shape().element_type());
}

// The rows that take the place of an op's own: the first whose condition holds decides.
struct SpecialRows {
  bool (*applies)(const Instruction& instruction);
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

Evaluation EvaluationOf(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  const OpEvaluation* general = FindEvaluation(opcode);
  if (general == nullptr || general->apply != nullptr) return {general, general};
  const OpEvaluation* row = general;
  bool is_for_narrow_types = false;
  for (const SpecialRows& rows : kSpecialRows) {
    if (!rows.applies(instruction)) continue;
    if (const OpEvaluation* special = rows.find(opcode); special != nullptr) {
      row = special;
      is_for_narrow_types = rows.are_for_narrow_types;
    }
    break;
  }
  const bool takes_all = row->any_type || is_for_narrow_types || Info(opcode).Is(kDataMovement);
  return {general, row, !takes_all && HasTypeThat(instruction, IsNarrowType)};
}

absl::Status UnsupportedType(const OpContext& op, ElementType type) {
  return MakeError(ErrorClass::kUnsupported,
                   StrCat(op.instruction.name(), ": the oracle does not evaluate ",
                          Name(op.instruction.opcode()), " on ", Name(type)));
}

}  // namespace assay::reference
