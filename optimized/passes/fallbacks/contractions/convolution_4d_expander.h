// Convolutions of more than two spatial dimensions lose those that are trivial: one element of
// input, kernel and output. Document: HLO passes, "Convolution 4D expander".
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class Convolution4dExpander : public OpExpander {
 public:
  std::string_view name() const override { return "convolution-4d-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kConvolution; }
  std::string_view rule() const override { return "drop-spatial-dimension"; }
  std::string_view kernel() const override { return "native-volume-convolution"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
