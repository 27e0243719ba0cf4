// Removes the domain instructions. Before that, instructions inside a domain that have no sharding
// get the one that surrounds them: passes make new ones. Document: optimization passes, HLO domain
// remover.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class DomainRemover : public Pass {
 public:
  std::string_view name() const override { return "domain-remover"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
