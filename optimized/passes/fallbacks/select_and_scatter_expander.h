// A select-and-scatter as comparisons of the window's elements one after the other, all windows at
// once, and one addition for each place in the window. Document: operation semantics,
// SelectAndScatter.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class SelectAndScatterExpander : public OpExpander {
 public:
  std::string_view name() const override { return "select-and-scatter-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kSelectAndScatter; }
  std::string_view rule() const override { return "expand-select-and-scatter"; }
  std::string_view kernel() const override { return "native-select-and-scatter"; }
  // Windows of more than 64 elements would be too many instructions.
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
