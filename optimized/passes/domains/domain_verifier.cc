#include "optimized/passes/domains/domain_verifier.h"

#include "optimized/analysis/domain_map.h"
#include "spec/base/status_macros.h"

namespace assay {

absl::StatusOr<bool> DomainVerifier::Run(Module& module, PassContext&) {
  for (const Computation* computation : module.computations()) {
    for (const Domain& domain : DomainsOf(*computation)) {
      ASSAY_ASSIGN_OR_RETURN(const const Sharding* common, domain.CommonMetadata());
    }
  }
  return false;
}

}  // namespace assay
