// Schur's form of general matrices, with eigenvalues and eigenvectors from it. Document: LAPACK's
// definitions of gees and geev.
#pragma once

#include "optimized/runtime/linear_algebra/matrix.h"

namespace assay::linear_algebra {

// A finite form that is a on entry becomes basisᴴ a basis, basis being unitary. The complex form is
// upper triangular; the real one has blocks of two on its diagonal, of equal diagonal elements, for
// pairs of conjugate eigenvalues. False if the iteration does not end.
bool SchurForm(Matrix<Complex>& form, Matrix<Complex>& basis);
bool SchurForm(Matrix<double>& form, Matrix<double>& basis);

// In the order of the diagonal; of a pair the one with the positive imaginary part comes first.
std::vector<Complex> EigenvaluesOf(const Matrix<Complex>& form);
std::vector<Complex> EigenvaluesOf(const Matrix<double>& form);

// Eigenvectors of basis form basisᴴ, right ones v with a v = v w or left ones u with uᴴ a = w uᴴ:
// columns of length one whose largest element is real. Those of a real matrix are real for real
// eigenvalues and conjugates for conjugate ones.
Matrix<Complex> EigenvectorsOf(const Matrix<Complex>& form, const Matrix<Complex>& basis,
                               bool left);
Matrix<Complex> EigenvectorsOf(const Matrix<double>& form, const Matrix<double>& basis, bool left);

}  // namespace assay::linear_algebra
