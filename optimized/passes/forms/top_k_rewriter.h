// A sort of which only the head is read is a top-k, which orders no more than that. Document: HLO
// passes, "TopK rewriter".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class TopKRewriter : public Pass {
 public:
  std::string_view name() const override { return "topk-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
