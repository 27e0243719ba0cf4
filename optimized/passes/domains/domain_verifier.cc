// Asks every domain for the metadata that its borders agree on.
#include "optimized/passes/domains/domain_verifier.h"

#include "optimized/analysis/domain_map.h"
#include "spec/base/status_macros.h"

namespace assay {

absl::StatusOr<bool> DomainVerifier::Run(Module& module, PassContext&) {
  for (const Computation* computation : module.computations()) {
    for (const Domain& domain : DomainsOf(*computation)) {
      ASSAY_RETURN_IF_ERROR(domain.CommonMetadata().status());
    }
  }
  return false;
}

}  // namespace assay
