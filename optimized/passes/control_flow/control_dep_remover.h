// Control dependencies go: an optimized module is made plain again. Document: optimization passes,
// ControlDepRemover.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ControlDepRemover : public Pass {
 public:
  std::string_view name() const override { return "control-dep-remover"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
