// Computes instructions whose operands are constants, within a budget. An op that is not exact or
// correctly rounded (exp, dot, ...) is left to run time, so that folding changes no bit.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConstantFolding : public Pass {
 public:
  std::string_view name() const override { return "constant-folding"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
