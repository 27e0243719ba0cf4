#include "spec/ops/op_table.h"

#include <array>

#include "spec/ops/rows_communication.h"
#include "spec/ops/rows_compute.h"
#include "spec/ops/rows_elementwise.h"
#include "spec/ops/rows_structure.h"

namespace assay {
namespace {

constexpr std::array kRowGroups = {
    rows::ElementwiseUnaryRows, rows::ElementwiseBinaryRows, rows::OtherElementwiseRows,
    rows::StructuralRows,       rows::DataMovementRows,      rows::ControlFlowRows,
    rows::LinearAlgebraRows,    rows::ReductionRows,         rows::RandomAndNormalisationRows,
    rows::CollectiveRows,       rows::HostTransferRows,
};

constexpr bool EveryOpcodeHasOneRow() {
  std::array<int, kOpcodeCount> rows = {};
  for (auto group : kRowGroups) {
    for (const OpInfo& row : group()) ++rows[static_cast<int>(row.opcode)];
  }
  for (int count : rows) {
    if (count != 1) return false;
  }
  return true;
}
static_assert(EveryOpcodeHasOneRow(), "an opcode without a row, or with two");

std::vector<OpInfo> BuildTable() {
  std::vector<OpInfo> table(kOpcodeCount);
  for (auto group : kRowGroups) {
    for (OpInfo& row : group()) {
      const int index = static_cast<int>(row.opcode);
      row.name = Name(row.opcode);
      table[index] = std::move(row);
    }
  }
  return table;
}

const std::vector<OpInfo>& Table() {
  static const std::vector<OpInfo>& table = *new std::vector<OpInfo>(BuildTable());
  return table;
}

}  // namespace

const OpInfo& Info(Opcode opcode) { return Table()[static_cast<int>(opcode)]; }

absl::Span<const OpInfo> AllOps() { return Table(); }

bool Matches(TypeMask mask, ElementType type) {
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      return (mask & kP) != 0;
    case TypeClass::kSigned:
      return (mask & kS) != 0;
    case TypeClass::kUnsigned:
      return (mask & kU) != 0;
    case TypeClass::kFloat:
      return (mask & kF) != 0;
    case TypeClass::kComplex:
      return (mask & kC) != 0;
    case TypeClass::kOther:
      return false;
  }
  return false;
}

CompareType DefaultCompareType(ElementType type) {
  if (IsFloat(type) || IsComplex(type)) return CompareType::kFloat;
  return IsSigned(type) ? CompareType::kSigned : CompareType::kUnsigned;
}

}  // namespace assay
