// An error where the domain instructions around connected instructions do not agree; changes
// nothing. Document: optimization passes, HLO domain verifier.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class DomainVerifier : public Pass {
 public:
  std::string_view name() const override { return "domain-verifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
