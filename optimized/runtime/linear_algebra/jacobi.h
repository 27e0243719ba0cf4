// Jacobi's rotations: eigenvalues of Hermitian matrices and singular values. Document: LAPACK's
// definitions of syevd and gesdd.
#pragma once

#include <limits>

#include "optimized/runtime/linear_algebra/matrix.h"

namespace assay::linear_algebra {

// The rotation that makes a Hermitian [[x, g], [conj(g), y]] diagonal, g not zero.
template <typename S>
struct Rotation {
  Rotation(double x, double y, S g) {
    const double size = std::abs(g);
    const double theta = (y - x) / (2 * size);
    const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1.0)), theta);
    c = 1 / std::hypot(t, 1.0);
    s = t * c;
    phase = Conjugate(g) / size;
  }
  void Columns(Matrix<S>& matrix, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const S x = matrix(i, p), y = phase * matrix(i, q);
      matrix(i, p) = c * x - s * y;
      matrix(i, q) = s * x + c * y;
    }
  }
  void Rows(Matrix<S>& matrix, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const S x = matrix(p, j), y = Conjugate(phase) * matrix(q, j);
      matrix(p, j) = c * x - s * y;
      matrix(q, j) = s * x + c * y;
    }
  }
  double c, s;
  S phase;
};

inline constexpr int kMostSweeps = 60;
// Of double.
inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// a becomes diagonal, the columns of v its eigenvectors.
template <typename S>
void Diagonalize(Matrix<S>& a, Matrix<S>& v) {
  const int64_t n = a.rows;
  bool rotated = true;
  for (int sweep = 0; sweep < kMostSweeps && rotated; ++sweep) {
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const double size = std::abs(a(p, q));
        const double scale = std::sqrt(std::abs(Real(a(p, p)) * Real(a(q, q))));
        if (!(size > kEpsilon / 4 * scale) || size < std::numeric_limits<double>::min()) continue;
        const Rotation<S> rotation(Real(a(p, p)), Real(a(q, q)), a(p, q));
        rotation.Columns(a, p, q);
        rotation.Rows(a, p, q);
        rotation.Columns(v, p, q);
        a(p, q) = a(q, p) = S(0);
        rotated = true;
      }
    }
  }
}

// The columns of g become orthogonal, by rotations that v collects.
template <typename S>
void Orthogonalize(Matrix<S>& g, Matrix<S>& v) {
  bool rotated = true;
  for (int sweep = 0; sweep < kMostSweeps && rotated; ++sweep) {
    rotated = false;
    for (int64_t p = 0; p < g.columns; ++p) {
      for (int64_t q = p + 1; q < g.columns; ++q) {
        double x = 0, y = 0;
        S inner(0);
        for (int64_t i = 0; i < g.rows; ++i) {
          x += Squared(g(i, p));
          y += Squared(g(i, q));
          inner += Conjugate(g(i, p)) * g(i, q);
        }
        const double size = std::abs(inner);
        if (!(size > kEpsilon * std::sqrt(x) * std::sqrt(y)) ||
            size < std::numeric_limits<double>::min()) {
          continue;
        }
        const Rotation<S> rotation(x, y, inner);
        rotation.Columns(g, p, q);
        rotation.Columns(v, p, q);
        rotated = true;
      }
    }
  }
}

// Columns of m from `from` on become of length one and orthogonal to all before them.
template <typename S>
void CompleteBasis(Matrix<S>& matrix, int64_t from) {
  int64_t candidate = 0;
  for (int64_t j = from; j < matrix.columns && candidate < matrix.rows; ++candidate) {
    for (int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) = i == candidate ? S(1) : S(0);
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < j; ++k) {
        S inner(0);
        for (int64_t i = 0; i < matrix.rows; ++i) inner += Conjugate(matrix(i, k)) * matrix(i, j);
        for (int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) -= inner * matrix(i, k);
      }
    }
    double squares = 0;
    for (int64_t i = 0; i < matrix.rows; ++i) squares += Squared(matrix(i, j));
    // Some unit vector keeps at least its share of the length.
    if (squares < 0.5 / static_cast<double>(matrix.rows)) continue;
    for (int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) /= std::sqrt(squares);
    ++j;
  }
}

}  // namespace assay::linear_algebra
