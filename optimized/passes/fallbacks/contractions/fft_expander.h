// Discrete Fourier transforms as products with matrices of roots of unity, in F64: along each
// dimension for itself, and where its length has small factors, by these (Cooley and Tukey).
// Document: operation semantics, Fft.
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class FftExpander : public OpExpander {
 public:
  std::string_view name() const override { return "fft-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kFft; }
  std::string_view rule() const override { return "expand-fft"; }
  std::string_view kernel() const override { return "native-fft"; }
  // Lengths with a prime factor above 1024 would need a matrix of too many roots.
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
