// In a scheduled module the root becomes the last instruction of each computation that is not a
// fusion's: a tuple of the old root's elements, or a bitcast of it. Document: optimization passes,
// Root instruction sinker.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class RootInstructionSinker : public Pass {
 public:
  std::string_view name() const override { return "root-instruction-sinker"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
