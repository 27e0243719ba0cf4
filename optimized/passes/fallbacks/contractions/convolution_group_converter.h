// A convolution with feature_group_count > 1 becomes one convolution per group. Slices rather than
// a masked filter: a masked infinity times zero is no number. Document: optimization passes,
// Convolution group converter.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class ConvolutionGroupConverter : public OpExpander {
 public:
  std::string_view name() const override { return "convolution-group-converter"; }

 protected:
  Opcode opcode() const override { return Opcode::kConvolution; }
  std::string_view rule() const override { return "ungroup-convolution"; }
  std::string_view kernel() const override { return "native-grouped-convolution"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
