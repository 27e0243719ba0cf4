// A parameter that is a result, unmodified, shares its memory with it (input_output_alias of the
// module). Parameters and results that are tuples within are left alone. Goes before copy-
// insertion. Document: optimization passes, Alias passthrough params.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class AliasPassthroughParams : public Pass {
 public:
  std::string_view name() const override { return "alias-passthrough-params"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
