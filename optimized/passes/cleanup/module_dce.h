// Elements of loops' states that no result and no effect depends on, through whatever loops and
// calls, are given on as they came: while-simplifier then drops them. Document: HLO passes, "HLO
// module DCE".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ModuleDce : public Pass {
 public:
  std::string_view name() const override { return "hlo-module-dce"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
