// Arrays that a sort carries along for nobody leave it: neither the comparator nor a reader of the
// results looks at them. Document: HLO passes, "Sort simplifier".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class SortSimplifier : public Pass {
 public:
  std::string_view name() const override { return "sort-simplifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
