// Dots get their canonical form: batch dimensions first, one free dimension and one that is
// summed, [batch, m, k] times [batch, k, n]. Document: optimization passes, Dot decomposer.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class DotDecomposer : public Pass {
 public:
  std::string_view name() const override { return "dot-decomposer"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
