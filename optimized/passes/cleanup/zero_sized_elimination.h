// Arrays without elements become constants, whatever would compute them; side effects stay.
// Document: HLO passes, "Zero-sized HLO elimination".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ZeroSizedElimination : public Pass {
 public:
  std::string_view name() const override { return "zero-sized-hlo-elimination"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
