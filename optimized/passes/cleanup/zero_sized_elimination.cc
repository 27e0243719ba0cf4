// Replaces what computes no elements.
#include "optimized/passes/cleanup/zero_sized_elimination.h"

#include <utility>

#include "optimized/passes/util/module_util.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

bool ComputesNothing(const Instruction& inst, const Purity& purity, const Gates& gates) {
  const Shape& shape = inst.shape();
  if (!shape.IsArray() || shape.HasDynamicDimension() || inst.opcode() == Opcode::kParameter ||
      inst.opcode() == Opcode::kConstant || !inst.control_predecessors().empty() ||
      !inst.control_successors().empty())
    return false;
  return shape.ElementCount() == 0 &&
         gates.Holds("zero-sized/no-effect", &inst, purity.IsPure(inst));
}

}  // namespace

absl::StatusOr<bool> ZeroSizedElimination::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!ComputesNothing(*inst, purity, context.gates)) continue;
      ASSAY_ASSIGN_OR_RETURN(Literal nothing, Literal::Create(inst->shape()));
      Rewrite rewrite(context.gates, "zero-sized", inst);
      if (!rewrite) continue;
      changed |= rewrite.Replace(computation->AddConstant(std::move(nothing)));
    }
  }
  return changed;
}

}  // namespace assay
