// Carries the memory spaces that layouts name, S(n), into fusions: parameters have those of the
// operands, and the root, with the elements of a tuple, that of the result. What lies between them
// lies nowhere. Document: HLO passes, "Memory space propagation".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class MemorySpacePropagation : public Pass {
 public:
  std::string_view name() const override { return "memory-space-propagation"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
