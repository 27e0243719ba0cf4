// Asynchronous operations as what they do: a start and its done become the operation itself, at
// the start for the pairs that have opcodes of their own, at the done for an async computation
// (whose operands may come with updates). Required: runs before anything else, whatever the
// decision limit. Document: hlo-format 3.11, 4.0.6, 4.0.7.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

// Ops that this pass takes away.
bool IsAsync(Opcode opcode);

class AsyncExpander : public Pass {
 public:
  std::string_view name() const override { return "async-expander"; }
  // Unsupported: a start that reaches its done through a loop, a branch or a call.
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
