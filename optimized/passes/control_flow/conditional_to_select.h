// Conditionals where each element is computed by itself (in the function of a map, in a combiner)
// become selects between all their branches. Required: there is no code for a choice there.
// Document: HLO passes, "Conditional to select".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConditionalToSelect : public Pass {
 public:
  std::string_view name() const override { return "conditional-to-select"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
