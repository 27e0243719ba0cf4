// A reduce that is too long for the threads that share a result becomes two, so that nothing has to
// be added by atomics: results are the same on every run. It takes reduces of one array, in the
// default layout, whose combiner is known and may be regrouped; what pads is the value that changes
// nothing. reduction-dimension-grouper goes first. Document: optimization passes, Tree reduction
// rewriter (GPU).
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class GpuTreeReductionRewriter : public Pass {
 public:
  // The most elements that one kernel reduces well, by the dimensions of [A,B,C]: of A beside C, of
  // C (the document's M), of B beside a kept C (its T).
  static constexpr int64_t kLongestBatch = 8, kLongestRow = 8192, kLongestColumn = 2048;

  std::string_view name() const override { return "gpu-tree-reduction-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
