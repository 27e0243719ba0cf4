// Batch normalisation in terms of reductions and element-wise ops, which is all that code is
// generated for. Required: runs before anything else, whatever the decision limit. f16 and bf16 are
// computed in f32 and rounded once. Document: operation semantics chapter 12.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class BatchNormExpander : public Pass {
 public:
  std::string_view name() const override { return "batch-norm-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
