// Convolutions get the dimension order of the fast path, by transposes around them. Document:
// optimization passes, Convolution canonicalization (of CPUs).
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConvolutionCanonicalization : public Pass {
 public:
  std::string_view name() const override { return "convolution-canonicalization"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
