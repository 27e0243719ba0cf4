// Element-wise ops on slices of the same arrays become one on the whole arrays, whose slices they
// are, where that computes no more elements. Document: HLO passes, "Slice sinker".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class SliceSinker : public Pass {
 public:
  std::string_view name() const override { return "slice-sinker"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
