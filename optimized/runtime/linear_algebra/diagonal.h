// Eigenvalues of Hermitian matrices and singular values: reflectors make the matrix tridiagonal or
// bidiagonal, and the implicit QR algorithm makes that diagonal. Document: LAPACK's definitions of
// syevd and gesdd.
#pragma once

#include "optimized/runtime/linear_algebra/matrix.h"

namespace assay {
struct RunContext;
}

namespace assay::linear_algebra {

// Diagonalizes a finite Hermitian matrix, both triangles given. Eigenvalues are not sorted; row k
// of `vectors` is the eigenvector of value k, or `vectors` has no columns where nobody asks for
// them. False if the iteration does not end.
template <typename S>
bool DiagonalizeHermitian(const RunContext& context, Matrix<S> matrix, bool wants_vectors,
                          std::vector<double>& values, Matrix<S>& vectors);

// Decomposes a finite matrix with at least as many rows as columns. Singular values are not sorted;
// row k of `right` is the right singular vector of value k, row k of `left` its left one, and
// further rows of `left`, `left_vectors` in all, complete the basis. Without vectors both have no
// columns.
template <typename S>
bool SingularValues(const RunContext& context, Matrix<S> matrix, int64_t left_vectors,
                    bool wants_vectors, std::vector<double>& values, Matrix<S>& left,
                    Matrix<S>& right);

}  // namespace assay::linear_algebra
