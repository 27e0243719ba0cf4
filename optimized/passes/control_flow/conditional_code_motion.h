// Moves ops over the borders of conditionals: an op that all branches end with is done once, behind
// them; what is computed for one branch alone is computed in it. Document: HLO passes, "Conditional
// code motion".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConditionalCodeMotion : public Pass {
 public:
  std::string_view name() const override { return "conditional-code-motion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
