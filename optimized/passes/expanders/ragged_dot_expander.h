// Ragged dots as loops over their groups, each of which is a dot of masked operands. Required:
// there is no code for a ragged dot. Document: hlo-format 4.4.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class RaggedDotExpander : public Pass {
 public:
  std::string_view name() const override { return "ragged-dot-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
