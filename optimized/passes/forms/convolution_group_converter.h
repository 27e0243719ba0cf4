// A convolution with feature_group_count > 1 becomes one convolution per group. Slices rather than
// a masked filter: a masked infinity times zero is no number. Document: optimization passes,
// Convolution group converter.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConvolutionGroupConverter : public Pass {
 public:
  std::string_view name() const override { return "convolution-group-converter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
