// A stable sort becomes a sort that need not be stable: the place of each element breaks ties.
// Document: optimization passes, Stable sort expander.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class StableSortExpander : public OpExpander {
 public:
  std::string_view name() const override { return "stable-sort-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kSort; }
  std::string_view rule() const override { return "expand-stable-sort"; }
  std::string_view kernel() const override { return "native-stable-sort"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
