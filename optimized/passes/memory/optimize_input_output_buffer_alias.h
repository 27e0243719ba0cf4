// Lets outputs use the memory of donated parameters (buffer_donor) of the same shape, at most one
// output per parameter and one parameter per output, and notes it in the module's alias config.
// Document: optimization passes, Optimize input output buffer alias.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class OptimizeInputOutputBufferAlias : public Pass {
 public:
  std::string_view name() const override { return "optimize-input-output-buffer-alias"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
