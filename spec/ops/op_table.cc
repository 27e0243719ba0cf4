// The rows of all families in one table, and at compile time that none is missing or incomplete.
#include "spec/ops/op_table.h"

#include <array>

#include "spec/ops/rows_communication.h"
#include "spec/ops/rows_contraction.h"
#include "spec/ops/rows_control.h"
#include "spec/ops/rows_elementwise.h"
#include "spec/ops/rows_indexing.h"
#include "spec/ops/rows_linear_algebra.h"
#include "spec/ops/rows_movement.h"
#include "spec/ops/rows_random.h"
#include "spec/ops/rows_reduction.h"
#include "spec/ops/rows_sorting.h"

namespace assay {
namespace {

struct RowGroup {
  OpFamily family;
  std::vector<OpInfo> (*rows)();
};
constexpr RowGroup kRowGroups[] = {
    {OpFamily::kElementwise, rows::UnaryRows},
    {OpFamily::kElementwise, rows::BinaryRows},
    {OpFamily::kElementwise, rows::ConversionAndChoiceRows},
    {OpFamily::kMovement, rows::MovementRows},
    {OpFamily::kIndexing, rows::IndexingRows},
    {OpFamily::kReduction, rows::ReductionRows},
    {OpFamily::kContraction, rows::ContractionRows},
    {OpFamily::kLinearAlgebra, rows::LinearAlgebraRows},
    {OpFamily::kSorting, rows::SortingRows},
    {OpFamily::kRandom, rows::RandomRows},
    {OpFamily::kControl, rows::ControlRows},
    {OpFamily::kCommunication, rows::CommunicationRows},
};

constexpr std::string_view kFamilyNames[] = {
    "elementwise",    "movement", "indexing", "reduction", "contraction",
    "linear_algebra", "sorting",  "random",   "control",   "communication",
};
static_assert(std::size(kFamilyNames) == static_cast<size_t>(OpFamily::kCommunication) + 1);

constexpr bool EveryOpcodeHasOneRow() {
  std::array<int, kOpcodeCount> rows = {};
  for (const RowGroup& group : kRowGroups) {
    for (const OpInfo& row : group.rows()) ++rows[static_cast<int>(row.opcode)];
  }
  for (int count : rows) {
    if (count != 1) return false;
  }
  return true;
}
static_assert(EveryOpcodeHasOneRow(), "an opcode without a row, or with two");

// A row says how many operands it takes, its chapter and its summary.
constexpr bool IsComplete(const OpInfo& row) {
  return row.operands.min >= 0 &&
         (row.operands.max == kAnyNumber || row.operands.max >= row.operands.min) &&
         !row.chapter.empty() && !row.summary.empty();
}
constexpr bool HasCompleteRows(OpFamily family) {
  int count = 0;
  for (const RowGroup& group : kRowGroups) {
    if (group.family != family) continue;
    for (const OpInfo& row : group.rows()) {
      if (!IsComplete(row)) return false;
      ++count;
    }
  }
  return count > 0;
}
static_assert(HasCompleteRows(OpFamily::kElementwise));
static_assert(HasCompleteRows(OpFamily::kMovement));
static_assert(HasCompleteRows(OpFamily::kIndexing));
static_assert(HasCompleteRows(OpFamily::kReduction));
static_assert(HasCompleteRows(OpFamily::kContraction));
static_assert(HasCompleteRows(OpFamily::kLinearAlgebra));
static_assert(HasCompleteRows(OpFamily::kSorting));
static_assert(HasCompleteRows(OpFamily::kRandom));
static_assert(HasCompleteRows(OpFamily::kControl));
static_assert(HasCompleteRows(OpFamily::kCommunication));

std::vector<OpInfo> BuildTable() {
  std::vector<OpInfo> table(kOpcodeCount);
  for (const RowGroup& group : kRowGroups) {
    for (OpInfo& row : group.rows()) {
      const int index = static_cast<int>(row.opcode);
      row.name = Name(row.opcode);
      row.family = group.family;
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

std::string_view Name(OpFamily family) { return kFamilyNames[static_cast<size_t>(family)]; }

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
