// The first values in order are what a sort puts first. Document: HLO passes, "TopK rewriter",
// backwards.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class TopKDecomposer : public OpExpander {
 public:
  std::string_view name() const override { return "top-k-decomposer"; }

 protected:
  Opcode opcode() const override { return Opcode::kTopK; }
  std::string_view rule() const override { return "decompose-top-k"; }
  std::string_view kernel() const override { return "native-top-k"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
