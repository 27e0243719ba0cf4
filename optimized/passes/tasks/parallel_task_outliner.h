// Moves each kernel that has several tasks (parallel-task-assigner) into a computation of its own,
// which a call with the note runs: the call is the fork and the join. Calls of the program itself
// have no note and stay serial. Document: optimization passes, Parallel task assigner.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ParallelTaskOutliner : public Pass {
 public:
  std::string_view name() const override { return "parallel-task-outliner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
