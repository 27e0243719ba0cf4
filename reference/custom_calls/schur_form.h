// Schur's form of complex matrices, and that of real ones with blocks of two for pairs of conjugate
// eigenvalues, by the QR algorithm: rotations alone, so that its vectors are orthonormal whatever
// the matrix is.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#include "reference/custom_calls/matrix_ops.h"

namespace assay::reference {

// Steps for an eigenvalue at most, before it is taken as it is; two or three are usual.
inline constexpr int kMostStepsPerEigenvalue = 60;
// An unusual shift after so many steps leaves cycles.
inline constexpr int kUnusualEvery = 10;

// The rotation of a pair of rows that makes (x, y) a multiple of (1, 0), and of columns by its
// adjoint.
template <typename S>
struct PairRotation {
  using W = decltype(std::abs(S()));
  S x{1}, y{};

  PairRotation(S first, S second) {
    const W length = std::hypot(std::abs(first), std::abs(second));
    if (length == 0) return;
    x = first / length;
    y = second / length;
  }
  void Rows(Matrix<S>& matrix, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const S a = matrix(p, j), b = matrix(q, j);
      matrix(p, j) = Conjugate(x) * a + Conjugate(y) * b;
      matrix(q, j) = x * b - y * a;
    }
  }
  void Columns(Matrix<S>& matrix, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const S a = matrix(i, p), b = matrix(i, q);
      matrix(i, p) = a * x + b * y;
      matrix(i, q) = b * Conjugate(x) - a * Conjugate(y);
    }
  }
};

template <typename S>
auto FrobeniusNorm(const Matrix<S>& matrix) {
  decltype(std::abs(S())) squares = 0;
  for (const S& x : matrix.values) squares += std::norm(std::complex(x));
  return std::sqrt(squares);
}

// A matrix a on its way to Schur's form: t is zᴴ a z at any time.
template <typename S>
class Reduction {
 public:
  using W = decltype(std::abs(S()));

  // t becomes a Hessenberg matrix, z what belongs to it.
  Reduction(Matrix<S>& t, Matrix<S>& z)
      : t_(t), z_(z), negligible_(FrobeniusNorm(t) * std::numeric_limits<W>::epsilon()) {
    const int64_t n = t.rows;
    z = Identity<S>(n);
    for (int64_t k = 0; k + 2 < n; ++k) {
      for (int64_t i = n - 1; i > k + 1; --i) {
        if (t(i, k) == S{}) continue;
        Rotate(i - 1, t(i - 1, k), t(i, k));
        t(i, k) = S{};
      }
    }
  }

  // The rotation of rows p and p + 1 that makes (x, y) a multiple of (1, 0), and of columns.
  void Rotate(int64_t p, S x, S y) {
    const PairRotation<S> rotation(x, y);
    rotation.Rows(t_, p, p + 1);
    rotation.Columns(t_, p, p + 1);
    rotation.Columns(z_, p, p + 1);
  }

  // The first row of the block around `last` that no negligible element separates from it. Numbers
  // are wider than those of the results, and an error of epsilon of the whole matrix is nothing to
  // what is granted, however small the elements beside it are.
  int64_t StartOfBlock(int64_t last) {
    int64_t first = last;
    while (first > 0 && !(std::abs(t_(first, first - 1)) <= negligible_)) --first;
    if (first > 0) t_(first, first - 1) = S{};
    return first;
  }

 private:
  Matrix<S>&t_, &z_;
  W negligible_;
};

// The eigenvalue of the last 2 x 2 block that is closer to its last element.
template <typename C>
C WilkinsonShift(const Matrix<C>& triangular, int64_t last) {
  const C a = triangular(last - 1, last - 1), b = triangular(last - 1, last),
          c = triangular(last, last - 1), d = triangular(last, last);
  using W = decltype(std::abs(C()));
  const C half = (a - d) * W{0.5};
  const C root = std::sqrt(half * half + b * c);
  const C sum = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return sum == C{} ? d : d - b * c / sum;
}

// t becomes upper triangular, zᴴ a z for the given a.
template <typename C>
void SchurForm(Matrix<C>& t, Matrix<C>& z) {
  const int64_t n = t.rows;
  Reduction<C> reduction(t, z);
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    const int64_t first = reduction.StartOfBlock(last);
    if (first == last || ++steps > kMostStepsPerEigenvalue) {
      t(last, last - 1) = C{};
      --last;
      steps = 0;
      continue;
    }
    const C shift = steps % kUnusualEvery == 0
                        ? C(std::abs(t(last, last - 1)) + std::abs(t(last, last)))
                        : WilkinsonShift(t, last);
    for (int64_t k = first; k < last; ++k) {
      // The bulge moves down: the first rotation is that of the shifted matrix.
      const C x = k == first ? t(k, k) - shift : t(k, k - 1);
      const C y = k == first ? t(k + 1, k) : t(k + 1, k - 1);
      reduction.Rotate(k, x, y);
      if (k > first) t(k + 1, k - 1) = C{};
    }
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) t(i, j) = C{};
}

// Turns the block of rows p and p + 1: to a triangle if its eigenvalues are real, else so that its
// diagonal elements are equal, as LAPACK leaves them.
template <typename W>
void FinishBlock(Matrix<W>& form, int64_t p, Reduction<W>& reduction) {
  const W a = form(p, p), b = form(p, p + 1), c = form(p + 1, p), d = form(p + 1, p + 1);
  const W half = (a - d) / 2, discriminant = half * half + b * c;
  if (discriminant >= 0) {
    // (half ± root, c) is the eigenvector of d + half ± root.
    const W root = std::sqrt(discriminant);
    reduction.Rotate(p, half + std::copysign(root, half), c);
    form(p + 1, p) = 0;
  } else {
    const W angle = std::atan2(d - a, b + c) / 2;
    reduction.Rotate(p, std::cos(angle), std::sin(angle));
  }
}

// A step of the QR algorithm with two shifts, the eigenvalues of the last block (Francis), on rows
// `first` to `last`, which are three or more.
template <typename W>
void DoubleStep(Matrix<W>& form, int64_t first, int64_t last, bool unusual,
                Reduction<W>& reduction) {
  const W a = form(last - 1, last - 1), b = form(last - 1, last), c = form(last, last - 1),
          d = form(last, last);
  const W beside = std::abs(c) + std::abs(form(last - 1, last - 2));
  const W sum = unusual ? W{1.5} * beside : a + d;
  const W product = unusual ? beside * beside : a * d - b * c;
  const W above = form(first, first), below = form(first + 1, first);
  // The first column of (form - w1) (form - w2), and later that of the bulge.
  W x = above * above + form(first, first + 1) * below - sum * above + product;
  W y = below * (above + form(first + 1, first + 1) - sum);
  W z = below * form(first + 2, first + 1);
  for (int64_t k = first; k < last; ++k) {
    if (k > first) {
      x = form(k, k - 1);
      y = form(k + 1, k - 1);
      z = k + 2 <= last ? form(k + 2, k - 1) : W{0};
    }
    if (k + 2 <= last) reduction.Rotate(k + 1, y, z);
    reduction.Rotate(k, x, k + 2 <= last ? std::hypot(y, z) : y);
    if (k == first) continue;
    form(k + 1, k - 1) = 0;
    if (k + 2 <= last) form(k + 2, k - 1) = 0;
  }
}

// t becomes Schur's form of a real matrix a, zᵀ a z.
template <typename W>
void RealSchurForm(Matrix<W>& t, Matrix<W>& z) {
  Reduction<W> reduction(t, z);
  int steps = 0;
  for (int64_t last = t.rows - 1; last > 0;) {
    const int64_t first = reduction.StartOfBlock(last);
    if (first + 1 < last && ++steps <= kMostStepsPerEigenvalue) {
      DoubleStep(t, first, last, steps % kUnusualEvery == 0, reduction);
      continue;
    }
    if (first + 1 == last) FinishBlock(t, first, reduction);
    if (first + 1 < last) t(last, last - 1) = 0;
    last -= first + 1 == last ? 2 : 1;
    steps = 0;
  }
  for (int64_t i = 0; i < t.rows; ++i)
    for (int64_t j = 0; j + 1 < i; ++j) t(i, j) = 0;
}

}  // namespace assay::reference
