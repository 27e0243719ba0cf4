// Factors and solves of real matrices as loops over columns and rows, each trip a product of a
// matrix and a vector; narrow types by way of F32. Document: HLO passes, "Cholesky expander",
// "Triangular solve expander".
#pragma once

#include "optimized/passes/fallbacks/op_expander.h"

namespace assay {

class CholeskyExpander : public OpExpander {
 public:
  std::string_view name() const override { return "cholesky-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kCholesky; }
  std::string_view rule() const override { return "expand-cholesky"; }
  std::string_view kernel() const override { return "native-cholesky"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

class TriangularSolveExpander : public OpExpander {
 public:
  std::string_view name() const override { return "triangular-solve-expander"; }

 protected:
  Opcode opcode() const override { return Opcode::kTriangularSolve; }
  std::string_view rule() const override { return "expand-triangular-solve"; }
  std::string_view kernel() const override { return "native-triangular-solve"; }
  bool Matches(const Instruction& inst) const override;
  Instruction* Expand(Instruction* inst) const override;
};

}  // namespace assay
