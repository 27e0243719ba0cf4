// Tells, from verbosity 2 on, what indexed_array_analysis finds; changes nothing. Document:
// optimization passes, Indexed array analysis.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class IndexedArrayPrinter : public Pass {
 public:
  std::string_view name() const override { return "indexed-array-analysis"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
