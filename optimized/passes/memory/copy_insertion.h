// Inserts copies where one buffer would have to hold two values, or a value would have to live in a
// buffer that is not its own: parameters and constants that leave the entry, results of the entry
// that may be one of several buffers or share one, loop state that is overwritten while it is still
// read, branches that hand on what they were given. Calls need none. Document: optimization passes,
// Copy insertion.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class CopyInsertion : public Pass {
 public:
  std::string_view name() const override { return "copy-insertion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
