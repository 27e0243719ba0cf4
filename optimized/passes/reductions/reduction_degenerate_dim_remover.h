// Reduces have no dimensions of size 1, neither in what they read nor in what they give: bitcasts
// take them away and bring them back. Document: optimization passes, Reduction degenerate dim
// remover.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ReductionDegenerateDimRemover : public Pass {
 public:
  std::string_view name() const override { return "reduction-degenerate-dim-remover"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
