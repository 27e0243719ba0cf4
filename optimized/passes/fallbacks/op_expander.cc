// One walk for all expanders.
#include "optimized/passes/fallbacks/op_expander.h"

#include "optimized/passes/util/module_util.h"

namespace assay {

absl::StatusOr<bool> OpExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({opcode()})) return false;
  const bool unasked = context.options.expand;
  bool changed = false;
  for (Computation* computation :
       LooksEverywhere() ? module.ComputationPostOrder() : UnitComputations(module)) {
    for (Instruction* inst : computation->PostOrder()) {
      if (inst->opcode() != opcode() || !IsPlainOrTuple(*inst) || !Matches(*inst)) continue;
      if (!unasked && context.gates.Allow(DecisionKind::kLibrary, kernel(), inst)) continue;
      Rewrite rewrite(context.gates, rule(), inst, /*required=*/!unasked);
      if (rewrite) changed |= rewrite.Replace(Expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
