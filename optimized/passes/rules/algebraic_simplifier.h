// Applies the local rules (rules.h) to the entry and to every computation that runs as a unit
// (call, while, conditional), from operands to users, and again to what a rule has added. Reducers,
// comparators and fusions are left as they are: which combiner is recognised decides how its result
// may be rounded.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class AlgebraicSimplifier : public Pass {
 public:
  std::string_view name() const override { return "algebraic-simplifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
