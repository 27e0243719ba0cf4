// A reduce along dimensions that do not lie side by side, one of them large, becomes two. Needs
// default layouts and grouped dimensions: reduction-layout-normalizer and reduction-dimension-
// grouper go first. Document: optimization passes, Reduction splitter.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ReductionSplitter : public Pass {
 public:
  std::string_view name() const override { return "reduction-splitter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
