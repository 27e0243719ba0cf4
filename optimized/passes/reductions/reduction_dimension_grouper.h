// Neighbouring reduced dimensions become one. Reduces whose operands are not in the default layout
// are left alone: reduction-layout-normalizer goes first. Document: optimization passes, Reduction
// dimension grouper.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ReductionDimensionGrouper : public Pass {
 public:
  std::string_view name() const override { return "reduction-dimension-grouper"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
