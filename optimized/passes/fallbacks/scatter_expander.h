// A scatter as a loop over its index vectors, each trip a window that is cut out, combined with its
// updates and written back. Document: HLO passes, "Scatter expander".
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class ScatterExpander : public OpExpander {
 public:
  std::string_view name() const override { return "scatter-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kScatter; }
  std::string_view rule() const override { return "expand-scatter"; }
  std::string_view kernel() const override { return "native-scatter"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
