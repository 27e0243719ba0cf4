// Bounds of Cholesky factors and of the solutions of triangular systems. Document: operation
// semantics chapter 11, Cholesky and TriangularSolve, class RESID.
#pragma once

#include "reference/values/matrices/triangular.h"

namespace assay::reference {

// Fill the bounds of `result`, whose literal is the plain value of FactorMatrices or SolveSystems
// (reference/ops/linear_algebra/linear_algebra.h) with the same arguments.
absl::Status BoundFactors(const OpContext& op, bool lower, Array& result);
absl::Status BoundSystems(const OpContext& op, const TriangularSystem& system, Array& result);

}  // namespace assay::reference
