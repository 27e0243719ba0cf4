// Loops: none or one trip, few trips of a small body, elements of the state that never change or
// that nobody needs, constants.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class WhileSimplifier : public Pass {
 public:
  std::string_view name() const override { return "while-simplifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
