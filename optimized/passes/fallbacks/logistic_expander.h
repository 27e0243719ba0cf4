// The logistic function as 1 / (1 + exp(-x)); narrow types by way of F32, in whose range the
// exponential does not overflow early. Document: HLO passes, "Logistic expander".
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class LogisticExpander : public OpExpander {
 public:
  std::string_view name() const override { return "logistic-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kLogistic; }
  std::string_view rule() const override { return "expand-logistic"; }
  std::string_view kernel() const override { return "native-logistic"; }
  bool LooksEverywhere() const override { return true; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
