// Reshapes and transposes that all operands of an element-wise op have alike move behind it: one
// instead of several. Scalars that are spread fit any shape. Document: HLO passes, "Reshape mover".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ReshapeMover : public Pass {
 public:
  std::string_view name() const override { return "reshape-mover"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
