// Schur's form of general matrices, with eigenvalues and eigenvectors from it. Document: LAPACK's
// definitions of gees and geev.
#pragma once

#include "optimized/runtime/linear_algebra/matrix.h"

namespace assay::linear_algebra {

// For a finite t that is a on entry: t becomes zᴴ a z, z unitary. The complex form is upper
// triangular; the real one has blocks of two on its diagonal, of equal diagonal elements, for pairs
// of conjugate eigenvalues. False if the iteration does not end.
bool SchurForm(Matrix<Complex>& t, Matrix<Complex>& z);
bool SchurForm(Matrix<double>& t, Matrix<double>& z);

// In the order of the diagonal; of a pair the one with the positive imaginary part comes first.
std::vector<Complex> EigenvaluesOf(const Matrix<Complex>& t);
std::vector<Complex> EigenvaluesOf(const Matrix<double>& t);

// Eigenvectors of z t zᴴ, right ones v with a v = v w or left ones u with uᴴ a = w uᴴ: columns of
// length one whose largest element is real. Those of a real matrix are real for real eigenvalues
// and conjugates for conjugate ones.
Matrix<Complex> EigenvectorsOf(const Matrix<Complex>& t, const Matrix<Complex>& z, bool left);
Matrix<Complex> EigenvectorsOf(const Matrix<double>& t, const Matrix<double>& z, bool left);

}  // namespace assay::linear_algebra
