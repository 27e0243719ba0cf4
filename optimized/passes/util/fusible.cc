// Sorts ops by what it costs to compute an element of them where it is read.
#include "optimized/passes/util/fusible.h"

#include "spec/ops/op_table.h"

namespace assay {

bool MovesData(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kIota:
    case Opcode::kConstant:
      return true;
    default:
      return false;
  }
}

bool IsCheapArithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kBitcastConvert:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kSelect:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSubtract:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool IsElementwiseOp(const Instruction& inst) {
  return Info(inst.opcode()).Is(kElementwise) && inst.callees().empty() &&
         inst.opcode() != Opcode::kCopy;
}

bool HasPlainMemory(const Shape& shape) { return shape.layout().extras() == nullptr; }

bool IsFormula(const Instruction& inst) {
  return inst.operand_count() == 0 ||
         (inst.opcode() == Opcode::kBroadcast && inst.operand(0)->shape().rank() == 0);
}

bool IsFusible(const Instruction& inst, const Purity& purity) {
  if (!IsPlain(inst) || !purity.IsPure(inst) || !HasPlainMemory(inst.shape()) ||
      IsComplex(inst.shape().element_type())) {
    return false;
  }
  if (inst.opcode() == Opcode::kConstant)
    return inst.literal() != nullptr && inst.shape().rank() == 0;
  // The width may change, and with it the rank.
  if (inst.opcode() == Opcode::kBitcastConvert) {
    return SameDimensions(inst.shape(), inst.operand(0)->shape());
  }
  return MovesData(inst.opcode()) || IsElementwiseOp(inst);
}

}  // namespace assay
