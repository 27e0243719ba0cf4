// Converts around every op that computes in F16.
#include "optimized/passes/floats/element_type_converter.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/floats/bfloat16_support.h"
#include "optimized/passes/util/module_util.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

constexpr ElementType kEliminated = ElementType::kF16, kInstead = ElementType::kF32;

bool IsEliminated(const Instruction* inst) { return inst->shape().element_type() == kEliminated; }

// Ops that look at values, so that a wider type gives the same function, rounded later.
bool HasWideForm(const Instruction& inst) {
  if (!IsPlain(inst) || !inst.callees().empty() || inst.operand_count() == 0) return false;
  switch (inst.opcode()) {
    case Opcode::kBitcastConvert:
    case Opcode::kConvert:
    case Opcode::kReducePrecision:
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kConvolution:
    case Opcode::kDot:
      return true;
    default:
      return Info(inst.opcode()).Is(kElementwise) && !BFloat16Support::IsMovement(inst);
  }
}

Instruction* InType(Instruction* inst, ElementType type) {
  Shape shape = inst->shape();
  shape.set_element_type(type);
  return inst->parent()->Add(Opcode::kConvert, shape, {inst});
}

bool Widen(Instruction* inst, Gates& gates) {
  const bool gives = IsEliminated(inst);
  const bool reads = std::any_of(inst->operands().begin(), inst->operands().end(), IsEliminated);
  if ((!gives && !reads) || !HasWideForm(*inst)) return false;
  Rewrite rewrite(gates, "eliminate-type", inst);
  if (!rewrite) return false;
  std::vector<Instruction*> operands(inst->operands().begin(), inst->operands().end());
  for (Instruction*& operand : operands) {
    if (IsEliminated(operand)) operand = InType(operand, kInstead);
  }
  Shape shape = inst->shape();
  if (gives) shape.set_element_type(kInstead);
  Instruction* wide = inst->parent()->Add(inst->opcode(), shape, operands, inst->attributes());
  return rewrite.Replace(gives ? InType(wide, kEliminated) : wide);
}

}  // namespace

absl::StatusOr<bool> ElementTypeConverter::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->shape().IsArray()) changed |= Widen(inst, context.gates);
    }
  }
  return changed;
}

}  // namespace assay
