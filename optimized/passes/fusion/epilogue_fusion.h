// The only reader of a dot or a convolution becomes part of its kernel where it works element by
// element: a bias, an activation, a rounding. Sums go from registers through it
// into the result, and the array of sums is not made. For targets whose kernels of contractions
// have code for what stands behind them.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class EpilogueFusion : public Pass {
 public:
  std::string_view name() const override { return "epilogue-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
