// JAX's custom call for the largest elements of rows as the op. Required: there is no code for the
// call. Document: operation semantics chapters 10 (TopK) and 14.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class TopKExpander : public Pass {
 public:
  std::string_view name() const override { return "top-k-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// A custom call of TopK on floats that results in values and places.
bool IsTopKCall(const Instruction& inst);

}  // namespace assay
