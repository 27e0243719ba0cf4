// Puts converts around what the backend cannot do in BF16.
#include "optimized/passes/floats/bfloat16_normalization.h"

#include <vector>

#include "optimized/passes/floats/bfloat16_support.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// Ops whose F32 form is the same function, rounded later: not those that look at the bits or draw.
bool HasF32Form(const Instruction& inst) {
  switch (inst.opcode()) {
    case Opcode::kBitcastConvert:
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kConvolution:
    case Opcode::kDot:
      return IsPlain(inst);
    default:
      return IsPlain(inst) && inst.callees().empty() && inst.operand_count() > 0 &&
             Info(inst.opcode()).Is(kElementwise);
  }
}

bool IsBF16(const Instruction& inst) { return inst.shape().element_type() == ElementType::kBF16; }
bool IsF32(const Instruction& inst) { return inst.shape().element_type() == ElementType::kF32; }

Instruction* Converted(Instruction* inst, ElementType type) {
  Shape shape = inst->shape();
  shape.set_element_type(type);
  return inst->parent()->Add(Opcode::kConvert, shape, {inst});
}

bool Normalize(Instruction* inst, const BFloat16Support& support, Gates& gates) {
  if (BFloat16Support::IsMovement(*inst) || !HasF32Form(*inst)) return false;
  std::vector<bool> widen(inst->operand_count());
  bool any = false, keeps_bf16 = false, has_f32 = IsF32(*inst);
  for (int64_t i = 0; i < inst->operand_count(); ++i) {
    const bool is_bf16 = IsBF16(*inst->operand(i));
    widen[i] = is_bf16 && !support.SupportsOperand(*inst, i);
    any |= widen[i];
    keeps_bf16 |= is_bf16 && !widen[i];
    has_f32 |= widen[i] || IsF32(*inst->operand(i));
  }
  bool widen_result = IsBF16(*inst) && !support.SupportsOutput(*inst);
  any |= widen_result;
  keeps_bf16 |= IsBF16(*inst) && !widen_result;
  has_f32 |= widen_result;
  if (keeps_bf16 && has_f32 && !support.SupportsMixedPrecision(*inst)) {
    for (int64_t i = 0; i < inst->operand_count(); ++i) widen[i] = IsBF16(*inst->operand(i));
    widen_result = IsBF16(*inst);
    any = true;
  }
  if (!any) return false;
  Rewrite rewrite(gates, "normalize-bf16", inst);
  if (!rewrite) return false;
  std::vector<Instruction*> operands(inst->operands().begin(), inst->operands().end());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (widen[i]) operands[i] = Converted(operands[i], ElementType::kF32);
  }
  Shape shape = inst->shape();
  if (widen_result) shape.set_element_type(ElementType::kF32);
  Instruction* with =
      inst->parent()->Add(inst->opcode(), shape, operands, inst->attributes(), {}, inst->name());
  return rewrite.Replace(widen_result ? Converted(with, ElementType::kBF16) : with);
}

absl::StatusOr<bool> NormalizeAll(Module& module, const BFloat16Support& support, Gates& gates) {
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) changed |= Normalize(inst, support, gates);
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> BFloat16Normalization::Run(Module& module, PassContext& context) {
  if (context.options.bfloat16 == nullptr) return false;
  return NormalizeAll(module, *context.options.bfloat16, context.gates);
}

absl::StatusOr<bool> BFloat16MixedPrecisionRemoval::Run(Module& module, PassContext& context) {
  return NormalizeAll(module, *BFloat16Support::Find("separate"), context.gates);
}

}  // namespace assay
