// A gather as a loop of dynamic slices, one per vector of indices: both clamp alike. Document: HLO
// passes, "Gather expander".
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class GatherExpander : public OpExpander {
 public:
  std::string_view name() const override { return "gather-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kGather; }
  std::string_view rule() const override { return "expand-gather"; }
  std::string_view kernel() const override { return "native-gather"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
