// An all-reduce of what is the same on every replica needs no communication: a sum is the value
// times the number of replicas, an extremum the value itself. Document: optimization passes, All
// reduce simplifier.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class AllReduceSimplifier : public Pass {
 public:
  std::string_view name() const override { return "all-reduce-simplifier"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
