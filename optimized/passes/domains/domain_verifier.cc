#include "optimized/passes/domains/domain_verifier.h"

#include "optimized/analysis/domain_map.h"

namespace assay {

absl::StatusOr<bool> DomainVerifier::Run(Module& module, PassContext&) {
  for (const Computation* computation : module.computations()) {
    for (const Domain& domain : DomainsOf(*computation)) {
      const absl::StatusOr<const Sharding*> common = domain.CommonMetadata();
      if (!common.ok()) return common.status();
    }
  }
  return false;
}

}  // namespace assay
