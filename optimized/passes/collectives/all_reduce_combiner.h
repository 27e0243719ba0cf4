// Small all-reduces of one computation that do not depend on each other become one of several
// arrays: one meeting in the place of many. Those with channels are left alone. Document:
// optimization passes, All reduce combiner.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class AllReduceCombiner : public Pass {
 public:
  std::string_view name() const override { return "all-reduce-combiner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
