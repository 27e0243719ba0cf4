// Reads rows of ops, types and layouts.
#include "optimized/analysis/walks/elementwise_ops.h"

#include "absl/algorithm/container.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool IsComplexArray(const Instruction* instruction) {
  return instruction->shape().IsArray() && IsComplex(instruction->shape().element_type());
}

// Dimensions of size 1 may stand anywhere in a layout.
bool IsRowMajor(const Shape& shape) {
  int64_t last = -1;
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  for (size_t k = order.size(); k-- > 0;) {
    if (shape.dimension(order[k]) == 1) continue;
    if (order[k] < last) return false;
    last = order[k];
  }
  return true;
}

}  // namespace

bool IsElementwise(Opcode opcode) { return Info(opcode).Is(kElementwise); }

bool InvolvesComplex(const Instruction& instruction) {
  return IsComplexArray(&instruction) || absl::c_any_of(instruction.operands(), IsComplexArray);
}

bool IsElementwiseComputation(const Computation& computation) {
  return absl::c_all_of(computation, [](const Instruction* instruction) {
    if (InvolvesComplex(*instruction)) return false;
    switch (instruction->opcode()) {
      case Opcode::kParameter:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return true;
      case Opcode::kConstant:
        return instruction->shape().IsArray() && instruction->shape().rank() == 0;
      default:
        return IsElementwise(instruction->opcode());
    }
  });
}

bool BitcastKeepsOrder(const Instruction& bitcast) {
  return IsRowMajor(bitcast.operand(0)->shape()) && IsRowMajor(bitcast.shape());
}

bool BitcastConvertKeepsWidth(const Instruction& convert) {
  return BitWidth(convert.operand(0)->shape().element_type()) ==
         BitWidth(convert.shape().element_type());
}

}  // namespace assay
