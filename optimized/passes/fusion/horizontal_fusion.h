// Small kernels whose results are all consumed by one instruction run as one: each result is made
// one-dimensional, all are concatenated and sliced apart again inside one fusion, and reshaped
// outside. Nothing they could wait for lies between them, as nobody else reads them. Document:
// optimization passes, Horizontal fusion.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class HorizontalFusion : public Pass {
 public:
  std::string_view name() const override { return "horizontal-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
