// Cholesky factors and triangular systems in numbers wide enough that one rounding remains, and how
// cholesky and triangular-solve read the triangle of an operand. Values and bounds share both.
// Document: operation semantics chapter 11, Cholesky and TriangularSolve.
#pragma once

#include "reference/values/matrices/matrix.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// The lower factor L of a = L Lᴴ, a given by its lower triangle and the real parts of its diagonal.
// Returns the number of columns that were found: fewer than all when a pivot, then stored in place
// of the diagonal element's square root, is not above zero.
template <typename S>
int64_t FactorCholesky(const Matrix<S>& a, Matrix<S>& l) {
  for (int64_t j = 0; j < a.rows; ++j) {
    auto pivot = RealPart(a(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= RealPart(l(j, k) * Conjugate(l(j, k)));
    if (!(pivot > 0)) {
      l(j, j) = pivot;
      return j;
    }
    const auto diagonal = std::sqrt(pivot);
    l(j, j) = diagonal;
    for (int64_t i = j + 1; i < a.rows; ++i) {
      S rest = a(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= l(i, k) * Conjugate(l(j, k));
      l(i, j) = rest / diagonal;
    }
  }
  return a.rows;
}

// x of l x = b, column by column; l is lower triangular, what lies above its diagonal is not read.
template <typename S>
void SolveLower(const Matrix<S>& l, Matrix<S>& b) {
  for (int64_t c = 0; c < b.columns; ++c) {
    for (int64_t i = 0; i < l.rows; ++i) {
      S rest = b(i, c);
      for (int64_t j = 0; j < i; ++j) rest -= l(i, j) * b(j, c);
      b(i, c) = rest / l(i, i);
    }
  }
}

// The system that triangular-solve is asked for: op(a) x = b, or x op(a) = b unless `left`, op(a)
// being a, its transpose or its conjugate transpose, and a being lower or upper triangular.
struct TriangularOptions {
  bool left, lower, unit_diagonal, transposed, conjugated;
};

// Reads the operands of triangular-solve so that every system is l x = b with a lower l: right
// sides are transposed, and an upper triangle is lower when rows and columns are counted backwards.
struct TriangularSystem {
  int64_t order, solutions, batches;
  bool left, unit_diagonal, transposed, conjugated, backwards;

  // Operands 0 and 1 of `op` are a and b; the result has the shape of `op`.
  TriangularSystem(const OpContext& op, const TriangularOptions& options);
  // With the options that the attributes of a triangular-solve say.
  explicit TriangularSystem(const OpContext& op);
  int64_t Place(int64_t i) const { return backwards ? order - 1 - i : i; }
  template <typename S>
  S OfA(S element) const {
    return conjugated ? Conjugate(element) : element;
  }
  // Linear index, within a matrix of the operand a, of l(i, j).
  int64_t InA(int64_t i, int64_t j) const {
    return transposed ? Place(j) * order + Place(i) : Place(i) * order + Place(j);
  }
  // Linear index, within a matrix of the operand b or of the result, of x(i, c).
  int64_t InB(int64_t i, int64_t c) const {
    return left ? Place(i) * solutions + c : c * order + Place(i);
  }
};

// Reads and writes for cholesky: the upper factor is the conjugate transpose of the lower one.
struct CholeskyFactor {
  int64_t order, batches;
  bool lower;

  CholeskyFactor(const OpContext& op, bool is_lower);
  // An element of the factor that is read or written as that of the lower one: the upper factor is
  // conjugated.
  template <typename S>
  S OfUpper(S element) const {
    return lower ? element : Conjugate(element);
  }
  // Linear index, within a matrix, of element (i, j), i >= j, of the lower triangle.
  int64_t At(int64_t i, int64_t j) const { return lower ? i * order + j : j * order + i; }
};

}  // namespace assay::reference
