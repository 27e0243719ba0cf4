// Names of constants have no '.' and no '-', as symbols of PTX may not. Document: optimization
// passes, GPU sanitize constant names.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class SanitizeConstantNames : public Pass {
 public:
  std::string_view name() const override { return "gpu-sanitize-constant-names"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
