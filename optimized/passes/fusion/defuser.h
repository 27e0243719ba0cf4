// Replaces all fusions by what is in them. Document: optimization passes, defuser (one of the
// despecialization passes).
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class Defuser : public Pass {
 public:
  std::string_view name() const override { return "defuser"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
