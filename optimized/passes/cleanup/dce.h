// Removes instructions that nobody reads and computations that nobody calls. Decides nothing: no
// gate.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class DeadCodeElimination : public Pass {
 public:
  std::string_view name() const override { return "dce"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
