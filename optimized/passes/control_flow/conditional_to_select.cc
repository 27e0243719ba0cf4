// Computes all branches and selects.
#include "optimized/passes/control_flow/conditional_to_select.h"

#include "absl/container/flat_hash_set.h"
#include "optimized/passes/util/conditional_util.h"
#include "optimized/passes/util/module_util.h"

namespace assay {

absl::StatusOr<bool> ConditionalToSelect::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConditional})) return false;
  const Purity purity(module);
  const std::vector<Computation*> units = UnitComputations(module);
  const absl::flat_hash_set<const Computation*> is_unit(units.begin(), units.end());
  bool changed = false;
  // Branches come before the computations that choose between them.
  for (Computation* computation : module.ComputationPostOrder()) {
    if (is_unit.contains(computation)) continue;
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kConditional || !CanSelectBranches(*inst) ||
          !purity.IsPure(*inst))
        continue;
      Rewrite rewrite(context.gates, "expand-conditional", inst, /*required=*/true);
      changed |= rewrite.Replace(SelectBranches(inst));
    }
  }
  return changed;
}

}  // namespace assay
