// Scaled dots as dots of the products of data and factors. Required: there is no code for a scaled
// dot. Document: hlo-format 4.0.4.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ScaledDotExpander : public Pass {
 public:
  std::string_view name() const override { return "scaled-dot-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
