// The operands of reduces are in the default layout: another one is seen, by a bitcast, as an array
// with its dimensions in the order of memory. Results keep the layout they were asked for.
// Document: optimization passes, Reduction layout normalizer.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ReductionLayoutNormalizer : public Pass {
 public:
  std::string_view name() const override { return "reduction-layout-normalizer"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
