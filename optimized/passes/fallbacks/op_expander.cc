// One walk for all expanders.
#include "optimized/passes/fallbacks/op_expander.h"

#include "optimized/passes/util/module_util.h"

namespace assay {

absl::StatusOr<bool> OpExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({opcode()})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->PostOrder()) {
      if (inst->opcode() != opcode() || !IsPlain(*inst) || !Matches(*inst)) continue;
      Rewrite rewrite(context.gates, rule(), inst);
      if (rewrite) changed |= rewrite.Replace(Expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
