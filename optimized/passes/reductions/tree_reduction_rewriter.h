// A long sum in two steps, windows first: rounding errors grow with the length of a window and the
// number of windows, not with their product. Run until nothing changes it sums in pairs of windows.
// It takes reduces by +, *, min, max, and, or of one operand; what pads the last window is the
// identity of the operator. Not where a reduced dimension is shorter than the window
// (PassOptions::reduce_window_size). Document: optimization passes, Tree reduction rewriter.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class TreeReductionRewriter : public Pass {
 public:
  std::string_view name() const override { return "tree-reduction-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
