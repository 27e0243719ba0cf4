// Contractions read BF16 and give it without converts around them, where the backend's table
// (PassOptions::bfloat16; nullptr: everything) takes that. Their sums are those of F32 either way.
// Document: optimization passes, bfloat16 conversion folding.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class BFloat16ConversionFolding : public Pass {
 public:
  std::string_view name() const override { return "bfloat16-conversion-folding"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
