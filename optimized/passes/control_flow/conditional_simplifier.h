// Conditionals with a constant index run their branch; small ones without effects become a select
// of both.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ConditionalSimplifier : public Pass {
 public:
  std::string_view name() const override { return "conditional-simplifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
