// Batch dimensions of size 1 go from dots. Runs before dot-decomposer. Document: optimization
// passes, Batch dot simplification.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class BatchDotSimplification : public Pass {
 public:
  std::string_view name() const override { return "batch-dot-simplification"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
