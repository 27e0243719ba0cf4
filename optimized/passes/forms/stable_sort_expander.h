// A stable sort becomes a sort that need not be stable: the place of each element breaks ties.
// Document: optimization passes, Stable sort expander.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class StableSortExpander : public Pass {
 public:
  std::string_view name() const override { return "stable-sort-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
