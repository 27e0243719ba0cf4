// Dense algebra that the custom calls on matrices share: products, Jacobi's rotations, and the
// tests by which results that are not unique are judged.
#pragma once

#include <algorithm>

#include "reference/custom_calls/matrix_call.h"

namespace assay::reference {

// Jacobi's rotations converge quadratically: a handful of sweeps over all pairs of columns
// suffices, and this many only end a loop that rounding might keep going.
inline constexpr int kMostSweeps = 60;

// A basis is completed with unit vectors: the part of one that is orthogonal to the columns found
// so far counts if its squared length is at least this over n. The squared lengths of these parts
// of all n unit vectors add up to n less the number of columns found, so that one of them is at
// least 1 / n: a hundredth of that finds it in spite of rounding.
inline constexpr double kLeastOrthogonalPart = 0.01;

// The rotation of columns p and q that makes a Hermitian 2 x 2 matrix with the diagonal (a, b) and
// the element `above` diagonal: p becomes c p - s conj(phase) q, and q becomes s phase p + c q.
template <typename S>
struct Rotation {
  using W = decltype(std::abs(S()));
  W c, s;
  S phase;

  Rotation(W a, W b, S above) {
    const W modulus = std::abs(above);
    phase = above / modulus;
    const W theta = (b - a) / (2 * modulus);
    const W t = (theta < 0 ? W{-1} : W{1}) / (std::abs(theta) + std::hypot(theta, W{1}));
    c = 1 / std::hypot(t, W{1});
    s = t * c;
  }
  void Columns(Matrix<S>& matrix, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const S x = matrix(i, p), y = matrix(i, q);
      matrix(i, p) = c * x - s * Conjugate(phase) * y;
      matrix(i, q) = s * phase * x + c * y;
    }
  }
  void Rows(Matrix<S>& matrix, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const S x = matrix(p, j), y = matrix(q, j);
      matrix(p, j) = c * x - s * phase * y;
      matrix(q, j) = s * Conjugate(phase) * x + c * y;
    }
  }
};

template <typename S>
Matrix<S> Identity(int64_t n) {
  Matrix<S> identity(n, n);
  for (int64_t i = 0; i < n; ++i) identity(i, i) = 1;
  return identity;
}

// The columns of g become orthogonal by rotations of pairs of them, which v collects: g vᴴ is what
// g was. Pairs are left alone once their cosine is below 8 epsilon of the wide type, which rounding
// lets an inner product reach, or one of them is no longer than what rounding leaves of the others.
template <typename S>
void OrthogonalizeColumns(Matrix<S>& g, Matrix<S>& v) {
  using W = decltype(std::abs(S()));
  v = Identity<S>(g.columns);
  W rounding = 0;
  for (const S& x : g.values) rounding += RealPart(x * Conjugate(x));
  rounding *= static_cast<W>(g.rows) * W{64} * std::numeric_limits<W>::epsilon() *
              std::numeric_limits<W>::epsilon();
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < g.columns; ++p) {
      for (int64_t q = p + 1; q < g.columns; ++q) {
        W a = 0, b = 0;
        S inner{};
        for (int64_t i = 0; i < g.rows; ++i) {
          a += RealPart(g(i, p) * Conjugate(g(i, p)));
          b += RealPart(g(i, q) * Conjugate(g(i, q)));
          inner += Conjugate(g(i, p)) * g(i, q);
        }
        if (!(std::abs(inner) > std::sqrt(a * b) * 8 * std::numeric_limits<W>::epsilon()) ||
            std::abs(inner) < std::numeric_limits<W>::min() || std::min(a, b) <= rounding)
          continue;
        const Rotation<S> rotation(a, b, inner);
        rotation.Columns(g, p, q);
        rotation.Columns(v, p, q);
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

// c u |a| + |da| in the Frobenius norm, the largest error of eigenvalues and singular values of a,
// da being the radii of its elements.
template <typename E>
typename MatrixCall<E>::W ValueRadius(const MatrixCall<E>& call,
                                      const typename MatrixCall<E>::NumberMatrix& a) {
  using W = typename MatrixCall<E>::W;
  W squares = 0, radii = 0;
  for (const auto& x : a.values) {
    squares += x.Modulus() * x.Modulus();
    radii += x.radius * x.radius;
  }
  return call.Residual(4 * (a.rows + a.columns)) * std::sqrt(squares) + std::sqrt(radii);
}

// The loss of a product with the eigenvalues or singular values of a where these are subnormal.
template <typename E>
typename MatrixCall<E>::W LostNearZero(const MatrixCall<E>& call,
                                       const typename MatrixCall<E>::NumberMatrix& a) {
  using T = typename MatrixCall<E>::T;
  using W = typename MatrixCall<E>::W;
  const bool is_zero = std::all_of(a.values.begin(), a.values.end(),
                                   [](const auto& x) { return x.Modulus() + x.radius == 0; });
  if (is_zero) return 0;
  const W each = call.op.clauses.Has(ClauseId::kFlushSubnormals) ? Tiny<T>() : UlpAt<T>(0);
  return static_cast<W>(std::min(a.rows, a.columns)) * each;
}

template <typename S, typename M>
Matrix<S> Centres(const M& numbers) {
  Matrix<S> centres(numbers.rows, numbers.columns);
  for (size_t i = 0; i < numbers.values.size(); ++i) centres.values[i] = numbers.values[i].centre;
  return centres;
}

template <typename S>
bool IsFinite(const Matrix<S>& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(),
                     [](const S& x) { return std::isfinite(std::abs(x)); });
}

// True if all elements are decided and finite: a property is asked of nothing that was computed of
// others.
template <typename M>
bool AreKnown(const M& numbers) {
  return std::all_of(numbers.values.begin(), numbers.values.end(),
                     [](const auto& x) { return x.IsKnown(); });
}

template <typename E>
Matrix<typename Scalar<E>::WideNumber> MatrixOf(const Literal& literal) {
  const Shape& shape = literal.shape();
  Matrix<typename Scalar<E>::WideNumber> matrix(shape.dimension(0), shape.dimension(1));
  for (size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = WidenNumber(literal.data<E>()[i]);
  return matrix;
}

// The orthonormality that a backward stable algorithm leaves to n eigenvectors: twice the
// 4 (n + 2) u of class RESID, since the error of v counts twice in vᴴ v.
template <typename E>
typename MatrixCall<E>::W OrthonormalSlack(int64_t n) {
  return MatrixCall<E>::Residual(8 * (n + 2));
}

template <typename S>
Matrix<S> Adjoint(const Matrix<S>& matrix) {
  Matrix<S> adjoint(matrix.columns, matrix.rows);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j) adjoint(j, i) = Conjugate(matrix(i, j));
  return adjoint;
}

template <typename S>
Matrix<S> Product(const Matrix<S>& a, const Matrix<S>& b) {
  Matrix<S> product(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0; j < b.columns; ++j) product(i, j) += a(i, k) * b(k, j);
  return product;
}

// True if no element of a is further from b's than `tolerance`; false for NaN.
template <typename S, typename W>
bool IsNear(const Matrix<S>& a, const Matrix<S>& b, W tolerance) {
  for (size_t i = 0; i < a.values.size(); ++i)
    if (!(std::abs(a.values[i] - b.values[i]) <= tolerance)) return false;
  return true;
}

// True if the columns are orthonormal up to `tolerance` per element of mᴴ m.
template <typename S, typename W>
bool IsOrthonormal(const Matrix<S>& matrix, W tolerance) {
  return IsNear(Product(Adjoint(matrix), matrix), Identity<S>(matrix.columns), tolerance);
}

}  // namespace assay::reference
