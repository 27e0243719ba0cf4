// The op is made on what the reshapes read, and its result is reshaped.
#include "optimized/passes/rules/reshape_mover.h"

#include <vector>

#include "optimized/analysis/walks/elementwise_ops.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

bool IsRearrangement(const Instruction& inst) {
  return (inst.opcode() == Opcode::kReshape || inst.opcode() == Opcode::kTranspose) &&
         IsPlain(inst) && inst.HasOneUse();
}

bool IsSpreadScalar(const Instruction& inst) {
  return inst.opcode() == Opcode::kBroadcast && IsPlain(inst) &&
         inst.operand(0)->shape().IsScalar();
}

bool IsRowMajor(const Shape& shape) {
  return shape.layout().IsRowMajor() && shape.layout().extras() == nullptr;
}

// Both take elements from arrays of the same dimensions; the same way, if their attributes agree.
bool HaveLikeSources(const Instruction& a, const Instruction& b) {
  return a.opcode() == b.opcode() &&
         a.operand(0)->shape().dimensions() == b.operand(0)->shape().dimensions();
}

// The rearrangement that every operand has; nullptr if they differ or there are fewer than two.
const Instruction* CommonRearrangement(const Instruction& inst, const Gates& gates) {
  const Instruction* common = nullptr;
  int count = 0;
  for (const Instruction* operand : inst.operands()) {
    if (operand->shape().dimensions() != inst.shape().dimensions() || !IsRowMajor(operand->shape()))
      return nullptr;
    if (IsSpreadScalar(*operand)) continue;
    if (!IsRearrangement(*operand) || !IsRowMajor(operand->operand(0)->shape())) return nullptr;
    if (common != nullptr &&
        (!HaveLikeSources(*common, *operand) ||
         !gates.Holds("move-reshape/alike", &inst, common->attributes() == operand->attributes())))
      return nullptr;
    if (common == nullptr) common = operand;
    ++count;
  }
  return count > 1 ? common : nullptr;
}

bool Move(Instruction* inst, Gates& gates) {
  if (!IsElementwise(inst->opcode()) || !IsPlain(*inst) || !inst->callees().empty() ||
      !IsRowMajor(inst->shape()))
    return false;
  const Instruction* common = CommonRearrangement(*inst, gates);
  if (common == nullptr) return false;
  Rewrite rewrite(gates, "move-reshape", inst);
  if (!rewrite) return false;
  Computation* into = inst->parent();
  const absl::Span<const int64_t> sizes = common->operand(0)->shape().dimensions();
  std::vector<Instruction*> operands;
  for (Instruction* operand : inst->operands()) {
    Instruction* source = operand->operand(0);
    if (IsSpreadScalar(*operand)) {
      source = AddSplat(into, Shape::Array(source->shape().element_type(), sizes), source);
    }
    operands.push_back(source);
  }
  Instruction* before = into->Add(inst->opcode(), Shape::Array(inst->shape().element_type(), sizes),
                                  operands, inst->attributes());
  return rewrite.Replace(
      into->Add(common->opcode(), inst->shape(), {before}, common->attributes()));
}

}  // namespace

absl::StatusOr<bool> ReshapeMover::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kReshape, Opcode::kTranspose})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) changed |= Move(inst, context.gates);
  }
  return changed;
}

}  // namespace assay
