// Random bits of ThreeFry and Philox as ops on integers, bit for bit. Document: HLO passes, "Rng
// bit generator expander"; Salmon et al., Parallel random numbers: as easy as 1, 2, 3.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class RngBitGeneratorExpander : public OpExpander {
 public:
  std::string_view name() const override { return "rng-bit-generator-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kRngBitGenerator; }
  std::string_view rule() const override { return "expand-random-bit-generator"; }
  std::string_view kernel() const override { return "native-random-bits"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
