// One walk for all expanders.
#include "optimized/passes/fallbacks/op_expander.h"

#include "optimized/passes/util/module_util.h"
#include "optimized/target/target.h"

namespace assay {

namespace {

bool KernelPays(const Instruction& inst, const Target* target) {
  if (target == nullptr) return true;
  const auto pays = target->SupportOf(inst.opcode()).pays;
  return pays == nullptr || pays(inst);
}

}  // namespace

absl::StatusOr<bool> OpExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({opcode()})) return false;
  const bool unasked = context.options.expand;
  bool changed = false;
  for (Computation* computation :
       LooksEverywhere() ? module.ComputationPostOrder() : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != opcode() || !IsPlainOrTuple(*inst) || !Matches(*inst)) continue;
      const bool pays = KernelPays(*inst, context.options.target);
      const bool may_stay = unasked || !pays;  // nobody refused the kernel
      if (!may_stay && context.gates.Allow(DecisionKind::kLibrary, kernel(), inst)) continue;
      Rewrite rewrite(context.gates, rule(), inst, /*required=*/!may_stay);
      if (rewrite) changed |= rewrite.Replace(Expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
