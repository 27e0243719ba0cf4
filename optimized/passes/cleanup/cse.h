// Computes once what is computed twice: same op, same attributes, same operands (either order where
// the op commutes).
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class CommonSubexpressionElimination : public Pass {
 public:
  std::string_view name() const override { return "cse"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
