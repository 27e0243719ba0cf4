// Puts the body of a call in its place. Operation semantics chapter 14: inlining is always legal.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class CallInliner : public Pass {
 public:
  std::string_view name() const override { return "call-inliner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
