// No op of arithmetic reads or gives F16 any more: converts to F32 and back stand around it, for
// backends that do not do F16. What only moves values stays. Document: HLO passes, "HLO element
// type converter".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ElementTypeConverter : public Pass {
 public:
  std::string_view name() const override { return "hlo-element-type-converter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
