// Removes dead instructions, users before operands, and computations without callers.
#include "optimized/passes/cleanup/dce.h"

#include <vector>

namespace assay {

absl::StatusOr<bool> DeadCodeElimination::Run(Module& module, PassContext&) {
  const size_t computations = module.computations().size();
  module.RemoveUnusedComputations().IgnoreError();
  bool changed = module.computations().size() != computations;
  for (Computation* computation : module.computations()) {
    const std::vector<Instruction*> order = computation->PostOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!(*it)->IsDead()) continue;
      computation->Remove(*it);
      changed = true;
    }
  }
  module.RemoveUnusedComputations().IgnoreError();
  return changed;
}

}  // namespace assay
