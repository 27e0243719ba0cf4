// An all-gather as an all-reduce: every member puts its part into zeros at its own place, and the
// bits are added up. Floats are added as integers of their width, so that a zero keeps its sign and
// a NaN its payload. Document: optimization passes, all gather decomposer.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class AllGatherDecomposer : public OpExpander {
 public:
  std::string_view name() const override { return "all-gather-decomposer"; }

 protected:
  Opcode opcode() const override { return Opcode::kAllGather; }
  std::string_view rule() const override { return "decompose-all-gather"; }
  std::string_view kernel() const override { return "native-all-gather"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
