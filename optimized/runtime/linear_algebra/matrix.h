// Dense row-major matrices of the wide types, and Householder's reflectors, which the routines of
// LAPACK are made of. Document: LAPACK's definitions of its routines.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay::linear_algebra {

using Complex = std::complex<double>;

template <typename T>
T Conjugate(T x) {
  return x;
}
template <typename T>
std::complex<T> Conjugate(std::complex<T> x) {
  return std::conj(x);
}
template <typename T>
T Real(T x) {
  return x;
}
template <typename T>
T Real(std::complex<T> x) {
  return x.real();
}
template <typename T>
T Squared(T x) {
  return x * x;
}
template <typename T>
T Squared(std::complex<T> x) {
  return std::norm(x);
}
// The size by which LAPACK chooses pivots.
template <typename T>
T PivotSize(T x) {
  return std::abs(x);
}
template <typename T>
T PivotSize(std::complex<T> x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

template <typename S>
struct Matrix {
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  S& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  const S& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
  int64_t rows, columns;
  std::vector<S> values;
};

template <typename S>
Matrix<S> Identity(int64_t rows, int64_t columns) {
  Matrix<S> one(rows, columns);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) one(i, i) = S(1);
  return one;
}

template <typename S>
Matrix<S> Adjoint(const Matrix<S>& matrix) {
  Matrix<S> adjoint(matrix.columns, matrix.rows);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j) adjoint(j, i) = Conjugate(matrix(i, j));
  return adjoint;
}

template <typename S>
Matrix<S> Transposed(const Matrix<S>& matrix) {
  Matrix<S> transposed(matrix.columns, matrix.rows);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j) transposed(j, i) = matrix(i, j);
  return transposed;
}

// The exponent of the largest element. Divided by that power of two, elements have squares that
// stay in range.
template <typename S>
int ScaleExponent(const Matrix<S>& matrix) {
  double largest = 0;
  for (const S& x : matrix.values) largest = std::max(largest, std::abs(x));
  return largest == 0 ? 0 : std::ilogb(largest);
}
inline void Scale(Matrix<double>& matrix, int exponent) {
  for (double& x : matrix.values) x = std::ldexp(x, exponent);
}
inline void Scale(Matrix<Complex>& matrix, int exponent) {
  for (Complex& x : matrix.values)
    x = Complex(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
}

template <typename S>
bool IsFinite(const Matrix<S>& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(),
                     [](const S& x) { return std::isfinite(std::abs(x)); });
}

template <typename T>
T TimesPowerOfTwo(T x, int exponent) {
  return std::ldexp(x, exponent);
}
template <typename T>
std::complex<T> TimesPowerOfTwo(std::complex<T> x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}

// The exponent of the largest element of column k in rows from `first` to before `end` where sums
// of squares of such elements may leave the range of their type; 0 where they do not.
template <typename S>
int ExponentToLeave(const Matrix<S>& matrix, int64_t k, int64_t first, int64_t end) {
  using T = decltype(Real(S()));
  constexpr int kSafe = std::numeric_limits<T>::max_exponent / 4;
  T largest = 0;
  for (int64_t i = first; i < end; ++i) largest = std::max(largest, std::abs(matrix(i, k)));
  if (largest == 0 || !std::isfinite(largest)) return 0;
  const int exponent = std::ilogb(largest);
  return std::abs(exponent) > kSafe ? exponent : 0;
}

// 1 - tau v vᴴ, v being 1 in row `first` and zero before it and behind its last entry.
template <typename S>
class Reflector {
 public:
  // Takes column k of the matrix from row `first` to before `end` to a multiple of the first unit
  // vector, which replaces it; the rest of v is stored below.
  static Reflector Make(Matrix<S>& matrix, int64_t k, int64_t first, int64_t end) {
    using T = decltype(Real(S()));
    // Elements whose squares leave the range are brought near 1 meanwhile.
    const int exponent = ExponentToLeave(matrix, k, first, end);
    for (int64_t i = first; exponent != 0 && i < end; ++i)
      matrix(i, k) = TimesPowerOfTwo(matrix(i, k), -exponent);
    T below = 0;
    for (int64_t i = first + 1; i < end; ++i) below += Squared(matrix(i, k));
    const S alpha = matrix(first, k);
    Reflector reflector(first, S(0));
    if (below != 0 || alpha != S(Real(alpha))) {
      const T norm = std::sqrt(below + Squared(alpha));
      const T beta = Real(alpha) < 0 ? norm : -norm;
      const S scale = alpha - beta;
      for (int64_t i = first + 1; i < end; ++i) matrix(i, k) /= scale;
      matrix(first, k) = beta;
      reflector.tau_ = (beta - alpha) / beta;
    }
    if (exponent != 0) matrix(first, k) = TimesPowerOfTwo(matrix(first, k), exponent);
    reflector.ReadBelow(matrix, k, end);
    return reflector;
  }

  // The reflector that Make has stored in column k.
  static Reflector Of(const Matrix<S>& matrix, int64_t k, int64_t first, S tau) {
    Reflector reflector(first, tau);
    reflector.ReadBelow(matrix, k, matrix.rows);
    return reflector;
  }

  S tau() const { return tau_; }
  Reflector Adjointed() const {
    Reflector adjoint = *this;
    adjoint.tau_ = Conjugate(tau_);
    return adjoint;
  }

  // Multiplies the target's columns from `from` on from the left.
  void FromLeft(Matrix<S>& target, int64_t from) const {
    if (tau_ == S(0)) return;
    std::vector<S> sums(static_cast<size_t>(target.columns));
    for (size_t k = 0; k < v_.size(); ++k) {
      const S factor = Conjugate(v_[k]);
      const S* row = &target.values[(first_ + static_cast<int64_t>(k)) * target.columns];
      for (int64_t j = from; j < target.columns; ++j) sums[j] += factor * row[j];
    }
    for (S& sum : sums) sum *= tau_;
    for (size_t k = 0; k < v_.size(); ++k) {
      S* row = &target.values[(first_ + static_cast<int64_t>(k)) * target.columns];
      for (int64_t j = from; j < target.columns; ++j) row[j] -= v_[k] * sums[j];
    }
  }

  // Multiplies the target's rows in [begin, end) from the right.
  void FromRight(Matrix<S>& target, int64_t begin, int64_t end) const {
    if (tau_ == S(0)) return;
    for (int64_t i = begin; i < end; ++i) {
      S* row = &target.values[i * target.columns + first_];
      S sum(0);
      for (size_t k = 0; k < v_.size(); ++k) sum += row[k] * v_[k];
      sum *= tau_;
      for (size_t k = 0; k < v_.size(); ++k) row[k] -= sum * Conjugate(v_[k]);
    }
  }

 private:
  Reflector(int64_t first, S tau) : first_(first), tau_(tau) {}
  void ReadBelow(const Matrix<S>& matrix, int64_t k, int64_t end) {
    v_.push_back(S(1));
    for (int64_t i = first_ + 1; i < end; ++i) v_.push_back(matrix(i, k));
  }

  int64_t first_;
  S tau_;
  std::vector<S> v_;
};

// The matrix becomes qᴴ matrix q with zeros below the first subdiagonal, where the reflectors whose
// product q is are stored; only rows and columns in [first, last) take part. Returns their factors.
template <typename S>
std::vector<S> ReduceToHessenberg(Matrix<S>& matrix, int64_t first, int64_t last) {
  std::vector<S> taus(static_cast<size_t>(std::max<int64_t>(matrix.rows - 1, 0)));
  for (int64_t k = first; k + 1 < last; ++k) {
    const auto reflector = Reflector<S>::Make(matrix, k, k + 1, last);
    taus[k] = reflector.tau();
    reflector.Adjointed().FromLeft(matrix, k + 1);
    reflector.FromRight(matrix, 0, last);
  }
  return taus;
}

}  // namespace assay::linear_algebra
