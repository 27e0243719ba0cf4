// Fusions that hold an op which is made as a whole become calls: a kernel makes its results element
// by element, and there is no such code for a scatter, a sort or a loop. So do those of which a
// kernel would do the same work over and over, as the sum of a row for every element of it.
// Required.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class FusionToCall : public Pass {
 public:
  std::string_view name() const override { return "fusion-to-call"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// True if the results of the op are not made element by element.
bool IsMadeWhole(Opcode opcode);

}  // namespace assay
