// get-tuple-element of a tuple, and a tuple of all elements of a tuple.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class TupleSimplifier : public Pass {
 public:
  std::string_view name() const override { return "tuple-simplifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
