// Random numbers as a formula of random bits, which come from a state that the executable keeps.
// Required: there is no code for rng. Document: operation semantics chapter 13.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class RngExpander : public Pass {
 public:
  std::string_view name() const override { return "rng-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
