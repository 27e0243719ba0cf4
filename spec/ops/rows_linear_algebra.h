// Rows of factorisations, solutions and transforms of matrices. Documents: operation semantics
// chapter 11; hlo-format 4.0.4.
#pragma once

#include "spec/ops/row_helpers.h"

namespace assay::rows {

constexpr std::vector<OpInfo> LinearAlgebraRows() {
  return {
      {.opcode = Opcode::kCholesky,
       .operands = {1, 1},
       .types = kFC,
       .attributes = {Optional(Attr::kLower)},
       .flags = kShapeInferable,
       .infer = InferCholesky,
       .numeric = kResidualContract,
       .chapter = "11 Cholesky",
       .summary = "triangular factor of positive definite matrices"},
      {.opcode = Opcode::kFft,
       .operands = {1, 1},
       .types = kFC,
       .attributes = {Required(Attr::kFftType), Required(Attr::kFftLength)},
       .flags = kShapeInferable,
       .infer = InferFft,
       .numeric = kResidualContract,
       .chapter = "11 Fft",
       .summary = "discrete Fourier transform of inner dimensions"},
      {.opcode = Opcode::kTriangularSolve,
       .operands = {2, 2},
       .types = kFC,
       .attributes = {Optional(Attr::kLeftSide), Optional(Attr::kLower),
                      Optional(Attr::kUnitDiagonal), Optional(Attr::kTransposeA)},
       .flags = kShapeInferable,
       .infer = InferTriangularSolve,
       .numeric = kResidualContract,
       .chapter = "11 TriangularSolve",
       .summary = "solution of triangular systems"},
  };
}

}  // namespace assay::rows
