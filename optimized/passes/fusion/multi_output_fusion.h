// Kernels that go through arrays of the same dimensions element by element, and of which one reads
// what another makes or reads the same, become one kernel of several results: what lies between
// them stays in registers. Nothing else may lie between them.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class MultiOutputFusion : public Pass {
 public:
  std::string_view name() const override { return "multi-output-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
