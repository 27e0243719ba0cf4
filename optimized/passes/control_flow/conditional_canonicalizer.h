// Conditionals that give an array give a tuple of it. Document: optimization passes, Conditional
// canonicalizer.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConditionalCanonicalizer : public Pass {
 public:
  std::string_view name() const override { return "conditional-canonicalizer"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
