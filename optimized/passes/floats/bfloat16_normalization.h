// Converts operands to F32 and results back where the backend cannot read or give BF16, or not
// beside F32 (PassOptions::bfloat16). It works on ops on arrays that call nothing. Document:
// optimization passes, bfloat16 normalization.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class BFloat16Normalization : public Pass {
 public:
  std::string_view name() const override { return "bfloat16-normalization"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// Parts BF16 from F32 whatever a backend can do, so that an optimized module runs elsewhere.
// Document: optimization passes, bfloat16 mixed precision removal.
class BFloat16MixedPrecisionRemoval : public Pass {
 public:
  std::string_view name() const override { return "bfloat16-mixed-precision-removal"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
