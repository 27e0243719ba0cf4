// Every value gets a sharding: given ones stay, the others follow from their operands and readers,
// that with the most parts first; what nothing is known of is replicated. Document: HLO passes,
// sharding propagation.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ShardingPropagation : public Pass {
 public:
  std::string_view name() const override { return "sharding-propagation"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
