// Large dots take in what only moves elements on their way: transposes, slices, broadcasts and
// exact conversions before them, transposes and a last rounding behind them. The kernel packs its
// operands from where they lie and writes its sums where they belong, so that none of these arrays
// is made. What is made of the sums element by element, as bias and activation are, is made by the
// same kernel, block by block. Document: HLO passes, "Instruction fusion", "Transpose folding".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class ContractionFusion : public Pass {
 public:
  std::string_view name() const override { return "contraction-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
