// Equal computations become one. Those of fusions are left alone: each belongs to its fusion.
// call-graph-flattener takes apart again what runs as a unit. Document: optimization passes, HLO
// subcomputation unification.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class SubcomputationUnification : public Pass {
 public:
  std::string_view name() const override { return "hlo-subcomputation-unification"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
