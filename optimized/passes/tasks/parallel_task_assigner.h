// Writes into the backend_config of each kernel, {"outer_dimension_partitions":["4"]}, into how
// many tasks its outermost loop is cut, for the entry, the bodies of loops and what is called or
// branches; emission goes by these notes and counts nothing itself. Kernels of little work, those
// that update an array in place or have an effect, and conditions of loops get none, and old notes
// go. Reads the target's threads; does nothing where the target is not known. Document:
// optimization passes, Parallel task assigner.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ParallelTaskAssigner : public Pass {
 public:
  std::string_view name() const override { return "parallel-task-assigner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
