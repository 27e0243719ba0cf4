// Start indices of dynamic-slice and dynamic-update-slice that come as one vector become a scalar
// per dimension, which is the form that rules and code generation know. Required: runs before
// anything else, whatever the decision limit. Document: operation semantics chapter 9,
// DynamicSlice.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class DynamicIndexSplitter : public Pass {
 public:
  std::string_view name() const override { return "dynamic-index-splitter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
