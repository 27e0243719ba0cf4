// Plain values of Cholesky factors and of the solutions of triangular systems, batch by batch.
// Document: operation semantics chapter 11, Cholesky and TriangularSolve.
#pragma once

#include "reference/values/matrices/triangular.h"

namespace assay::reference {

// `result` is the factors of the matrices of operand 0: lower ones, or upper ones unless `lower`;
// all of a matrix is NaN where it is not positive definite.
absl::Status FactorMatrices(const OpContext& op, bool lower, Literal& result);
// `result` is the solutions of the systems of operands 0 and 1.
absl::Status SolveSystems(const OpContext& op, const TriangularSystem& system, Literal& result);

}  // namespace assay::reference
