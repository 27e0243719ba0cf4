// Moves out of a loop's body what gives the same value on every trip, and hands it in as an element
// of the state. Only what costs something is moved, and only if it needs no more room than what it
// is computed from.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class WhileInvariantCodeMotion : public Pass {
 public:
  std::string_view name() const override { return "while-invariant-code-motion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
