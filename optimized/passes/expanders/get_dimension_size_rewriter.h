// The sizes of static dimensions as constants. Required: there is no code for get-dimension-size.
// Document: HLO passes, "HLO get dimension size rewriter".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class GetDimensionSizeRewriter : public Pass {
 public:
  std::string_view name() const override { return "get-dimension-size-rewriter"; }
  // The size of a dynamic dimension stays as it is.
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
