// A domain instruction stands on every edge between two instructions of different sharding, and on
// no other. Document: optimization passes, HLO domain isolator.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class DomainIsolator : public Pass {
 public:
  std::string_view name() const override { return "domain-isolator"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
