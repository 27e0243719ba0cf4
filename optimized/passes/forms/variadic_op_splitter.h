// Concatenates of more operands than a kernel has parameters for become concatenates of
// concatenates. Document: optimization passes, Variadic op splitter.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class VariadicOpSplitter : public Pass {
 public:
  std::string_view name() const override { return "variadic-op-splitter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
