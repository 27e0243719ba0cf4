// Inlines the computations of fusions.
#include "optimized/passes/fusion/defuser.h"

#include "optimized/passes/util/module_util.h"

namespace assay {

absl::StatusOr<bool> Defuser::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kFusion})) return false;
  bool changed = false;
  // Callees first: a fusion in a fusion is gone when the outer one is copied.
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kFusion || !inst->control_predecessors().empty() ||
          !inst->control_successors().empty()) {
        continue;
      }
      Rewrite rewrite(context.gates, "defuse", inst);
      if (!rewrite) continue;
      Instruction* with = InlineCopy(computation, *inst->callee(), inst->operands());
      if (with != nullptr) changed |= rewrite.Replace(with);
    }
  }
  if (changed) module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
