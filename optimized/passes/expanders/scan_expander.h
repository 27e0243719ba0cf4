// Scans as loops over their steps. Required: there is no code for a scan. Document:
// hlo-format 4.0.5.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ScanExpander : public Pass {
 public:
  std::string_view name() const override { return "scan-expander"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
