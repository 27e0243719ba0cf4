// Cholesky factors and triangular systems, batch by batch, in numbers wide enough that one rounding
// remains. Values and bounds share how the triangle of an operand is read.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "reference/scalar/arithmetic.h"
#include "reference/values/complex_types.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// A dense matrix of wide numbers, row-major.
template <typename S>
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<S> values;

  Matrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  S& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  const S& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

// The real type of the parts of an element type, and the wide number that holds its elements.
template <typename E>
struct Scalar {
  using Real = E;
  using WideNumber = Wide<E>;
};
template <typename T>
struct Scalar<std::complex<T>> {
  using Real = T;
  using WideNumber = std::complex<Wide<T>>;
};

template <typename E>
typename Scalar<E>::WideNumber WidenNumber(E x) {
  return Widen<Wide<E>>(x);
}
template <typename T>
std::complex<Wide<T>> WidenNumber(std::complex<T> x) {
  return {Widen<Wide<T>>(x.real()), Widen<Wide<T>>(x.imag())};
}
template <typename E, typename W>
E RoundNumber(W x) {
  return Round<E>(x);
}
template <typename E, typename W>
E RoundNumber(std::complex<W> x) {
  using T = typename E::value_type;
  return {Round<T>(x.real()), Round<T>(x.imag())};
}

template <typename W>
W Conjugate(W x) {
  return x;
}
template <typename W>
std::complex<W> Conjugate(std::complex<W> x) {
  return std::conj(x);
}
template <typename W>
W RealPart(W x) {
  return x;
}
template <typename W>
W RealPart(std::complex<W> x) {
  return x.real();
}

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

struct TriangularOptions {
  bool left, lower, unit_diagonal, transposed, conjugated;
};

// How triangular-solve reads its operands so that every system is l x = b with a lower l: right
// sides are transposed, and an upper triangle is lower when rows and columns are counted backwards.
struct TriangularSystem {
  int64_t order, solutions, batches;
  bool left, unit_diagonal, transposed, conjugated, backwards;

  // Of operands a and b and a result of op's shape.
  TriangularSystem(const OpContext& op, const TriangularOptions& options);
  explicit TriangularSystem(const OpContext& op);  // options from the attributes
  int64_t Place(int64_t i) const { return backwards ? order - 1 - i : i; }
  template <typename S>
  S OfA(S element) const {
    return conjugated ? Conjugate(element) : element;
  }
  // Linear index, within a matrix of the operand a, of l(i, j).
  int64_t InA(int64_t i, int64_t j) const {
    return transposed ? Place(j) * order + Place(i) : Place(i) * order + Place(j);
  }
  // Within a matrix of b or of the result, of x(i, c).
  int64_t InB(int64_t i, int64_t c) const {
    return left ? Place(i) * solutions + c : c * order + Place(i);
  }
};

// How cholesky reads and writes: the upper factor is the conjugate transpose of the lower one.
struct CholeskyFactor {
  int64_t order, batches;
  bool lower;

  CholeskyFactor(const OpContext& op, bool is_lower);
  // What an element of the upper triangle is in the lower one, and back.
  template <typename S>
  S OfUpper(S element) const {
    return lower ? element : Conjugate(element);
  }
  // Linear index, within a matrix, of element (i, j), i >= j, of the lower triangle.
  int64_t At(int64_t i, int64_t j) const { return lower ? i * order + j : j * order + i; }
};

// Calls f(TypeTag<E>) for a float or complex type.
template <typename F>
bool DispatchNumber(ElementType type, F f) {
  if (IsComplex(type)) return DispatchComplex(type, f);
  bool done = false;
  DispatchComputed(type, [&](auto tag) {
    if constexpr (kIsReal<typename decltype(tag)::type>) {
      f(tag);
      done = true;
    }
  });
  return done;
}

// The factors of operand 0, and the solutions of the systems of operands 0 and 1.
absl::Status FactorMatrices(const OpContext& op, bool lower, Literal& result);
absl::Status BoundFactors(const OpContext& op, bool lower, Array& result);
absl::Status SolveSystems(const OpContext& op, const TriangularSystem& system, Literal& result);
absl::Status BoundSystems(const OpContext& op, const TriangularSystem& system, Array& result);

}  // namespace assay::reference
