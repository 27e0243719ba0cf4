// Drops a module's schedule, so that passes may add instructions anywhere. Required, and the first:
// optimized modules of other compilers come with a schedule. Document: HLO passes, "HLO
// descheduler".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class Descheduler : public Pass {
 public:
  std::string_view name() const override { return "descheduler"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
