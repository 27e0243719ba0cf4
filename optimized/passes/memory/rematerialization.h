// Computes cheap values again instead of keeping them, if values, constants, arguments and results
// take more than the memory limit at once: those that live across the peak (broadcasts, iotas,
// conversions, element-wise ops and fusions of them) are made anew in front of their next reader,
// so that they need not live there. Instructions are taken in the order of the schedule, which the
// module has afterwards; the most bytes first. A step that does not lower the peak is taken back,
// so it never rises. Tells the peak before and after. Document: HLO passes, "HLO
// rematerialization".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class Rematerialization : public Pass {
 public:
  std::string_view name() const override { return "hlo-rematerialization"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
