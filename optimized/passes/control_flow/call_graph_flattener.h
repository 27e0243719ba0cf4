// Gives every call site of a loop body, condition, branch or called function its own copy of the
// computation, so that each has one caller. Required: buffers are planned per call site.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class CallGraphFlattener : public Pass {
 public:
  std::string_view name() const override { return "call-graph-flattener"; }
  // Unsupported: copies of copies that exceed a million instructions.
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
