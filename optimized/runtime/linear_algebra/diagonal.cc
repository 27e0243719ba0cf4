// Householder's reductions and the implicit QR algorithm on two diagonals.
#include "optimized/runtime/linear_algebra/diagonal.h"

#include <limits>
#include <utility>

#include "optimized/runtime/linear_algebra/rotations.h"
#include "optimized/runtime/run_context.h"

namespace assay::linear_algebra {
namespace {

constexpr int kMostStepsPerValue = 60;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The main diagonal and the one beside it, real.
struct Diagonals {
  std::vector<double> main, beside;

  double Largest() const {
    double largest = 0;
    for (double x : main) largest = std::max(largest, std::abs(x));
    for (double x : beside) largest = std::max(largest, std::abs(x));
    return largest;
  }
  // Sets what is small beside its neighbours to zero. Returns the first index of the block that
  // ends with `last`.
  int64_t StartOfBlock(int64_t last, double norm) {
    int64_t first = last;
    for (; first > 0; --first) {
      const double near = std::abs(main[first - 1]) + std::abs(main[first]);
      if (std::abs(beside[first - 1]) > kEpsilon * std::max(near, kEpsilon * norm)) continue;
      beside[first - 1] = 0;
      break;
    }
    return first;
  }
};

// The eigenvalue of [[a, b], [b, d]] that is nearer to d.
double NearEigenvalue(double a, double b, double d) {
  const double half = (a - d) / 2, root = std::hypot(half, b);
  const double sum = half < 0 ? half - root : half + root;
  return sum == 0 ? d : d - b * (b / sum);
}

// ---- Hermitian matrices.

// The matrix becomes tridiagonal, qᴴ matrix q, with the reflectors of q in its columns below the
// diagonal. Its two triangles stay equal, so that products with it read its rows.
template <typename S>
std::vector<S> ReduceToTridiagonal(Matrix<S>& matrix, Diagonals& diagonals) {
  const int64_t n = matrix.rows;
  std::vector<S> taus, image(static_cast<size_t>(n)), v(static_cast<size_t>(n));
  for (int64_t k = 0; k + 1 < n; ++k) {
    const S tau = Reflector<S>::Make(matrix, k, k + 1, n).tau();
    taus.push_back(tau);
    diagonals.main.push_back(Real(matrix(k, k)));
    diagonals.beside.push_back(Real(matrix(k + 1, k)));
    if (tau == S(0)) continue;
    for (int64_t i = k + 1; i < n; ++i) v[i] = i == k + 1 ? S(1) : matrix(i, k);
    std::fill(image.begin(), image.end(), S(0));
    for (int64_t i = k + 1; i < n; ++i) {
      const S* row = &matrix.values[i * n];
      for (int64_t j = k + 1; j < n; ++j) image[j] += Conjugate(row[j]) * v[i];
    }
    double inner = 0;
    for (int64_t i = k + 1; i < n; ++i) {
      inner += Real(Conjugate(v[i]) * image[i]);
      image[i] *= tau;
    }
    // Half of |tau|² vᴴ matrix v on either side of the update of rank two.
    const double half = Squared(tau) * inner / 2;
    for (int64_t i = k + 1; i < n; ++i) image[i] -= half * v[i];
    for (int64_t i = k + 1; i < n; ++i) {
      S* row = &matrix.values[i * n];
      const S x = image[i], y = v[i];
      for (int64_t j = k + 1; j < n; ++j) row[j] -= x * Conjugate(v[j]) + y * Conjugate(image[j]);
    }
  }
  if (n > 0) diagonals.main.push_back(Real(matrix(n - 1, n - 1)));
  return taus;
}

// An implicit step of QR with a shift on [first, last].
void TridiagonalStep(Diagonals& diagonals, int64_t first, int64_t last, RowRotations& rotations) {
  std::vector<double>&d = diagonals.main, &e = diagonals.beside;
  double x = d[first] - NearEigenvalue(d[last - 1], e[last - 1], d[last]), y = e[first];
  for (int64_t k = first; k < last; ++k) {
    const Givens turn(x, y);
    const double c = turn.cosine, s = turn.sine;
    if (k > first) e[k - 1] = turn.length;
    const double a = d[k], b = e[k], w = d[k + 1];
    const double mixed = 2 * c * s * b;
    d[k] = c * c * a + mixed + s * s * w;
    d[k + 1] = s * s * a - mixed + c * c * w;
    e[k] = c * s * (w - a) + (c * c - s * s) * b;
    if (k + 1 < last) {
      x = e[k];
      y = s * e[k + 1];
      e[k + 1] *= c;
    }
    rotations.Add(k, turn);
  }
}

// ---- Singular values.

// An implicit step of QR with a shift on [first, last] of an upper bidiagonal matrix; of the matrix
// times its adjoint it is a step on a tridiagonal one.
void BidiagonalStep(Diagonals& diagonals, int64_t first, int64_t last, bool shifts,
                    RowRotations& left, RowRotations& right) {
  std::vector<double>&d = diagonals.main, &e = diagonals.beside;
  const double above = last - 1 > first ? e[last - 2] : 0;
  const double shift =
      shifts ? NearEigenvalue(d[last - 1] * d[last - 1] + above * above, d[last - 1] * e[last - 1],
                              d[last] * d[last] + e[last - 1] * e[last - 1])
             : 0;
  double x = shifts ? d[first] * d[first] - shift : d[first],
         y = shifts ? d[first] * e[first] : e[first];
  for (int64_t k = first; k < last; ++k) {
    const Givens columns(x, y);
    if (k > first) e[k - 1] = columns.length;
    x = columns.cosine * d[k] + columns.sine * e[k];
    e[k] = columns.cosine * e[k] - columns.sine * d[k];
    y = columns.sine * d[k + 1];
    d[k + 1] *= columns.cosine;
    right.Add(k, columns);
    const Givens rows(x, y);
    d[k] = rows.length;
    x = rows.cosine * e[k] + rows.sine * d[k + 1];
    d[k + 1] = rows.cosine * d[k + 1] - rows.sine * e[k];
    left.Add(k, rows);
    e[k] = x;
    if (k + 1 == last) break;
    y = rows.sine * e[k + 1];
    e[k + 1] *= rows.cosine;
  }
}

// True if a diagonal element of the block is zero: a step without a shift then splits it. Small
// ones become zero.
bool HasZero(std::vector<double>& d, int64_t first, int64_t last, double norm) {
  bool found = false;
  for (int64_t k = first; k <= last; ++k) {
    if (std::abs(d[k]) > kEpsilon * norm) continue;
    d[k] = 0;
    found = true;
  }
  return found;
}

// The upper bidiagonal leftᴴ matrix right, with the reflectors of both.
template <typename S>
struct Bidiagonal {
  explicit Bidiagonal(Matrix<S>& matrix) {
    for (int64_t k = 0; k < matrix.columns; ++k) {
      left.push_back(Reflector<S>::Make(matrix, k, k, matrix.rows));
      left.back().Adjointed().FromLeft(matrix, k + 1);
      diagonals.main.push_back(Real(matrix(k, k)));
      if (k + 1 == matrix.columns) break;
      Matrix<S> row(matrix.columns, 1);
      for (int64_t j = k + 1; j < matrix.columns; ++j) row(j, 0) = Conjugate(matrix(k, j));
      right.push_back(Reflector<S>::Make(row, 0, k + 1, matrix.columns));
      right.back().FromRight(matrix, k + 1, matrix.rows);
      diagonals.beside.push_back(Real(row(k + 1, 0)));
    }
  }
  std::vector<Reflector<S>> left, right;
  Diagonals diagonals;
};

// The first columns of the product of reflectors, each of which begins `below` rows below the one
// of the number before, as rows.
template <typename S>
Matrix<S> RowsOfProduct(const std::vector<Reflector<S>>& reflectors, int64_t rows, int64_t columns,
                        int64_t below) {
  Matrix<S> product = Identity<S>(rows, columns);
  for (size_t k = reflectors.size(); k-- > 0;)
    reflectors[k].FromLeft(product, static_cast<int64_t>(k) + below);
  return Transposed(product);
}

// Repeats step(first, last, norm) on the last block of the matrix of order n that is no single
// value yet, until all are. False if one takes too many steps.
template <typename Step>
bool Settle(Diagonals& diagonals, int64_t n, Step step) {
  const double norm = diagonals.Largest();
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    const int64_t first = diagonals.StartOfBlock(last, norm);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMostStepsPerValue) return false;
    step(first, last, norm);
  }
  return true;
}

}  // namespace

template <typename S>
bool DiagonalizeHermitian(const RunContext& context, Matrix<S> matrix, bool wants_vectors,
                          std::vector<double>& values, Matrix<S>& vectors) {
  const int64_t n = matrix.rows;
  const int exponent = ScaleExponent(matrix);
  Scale(matrix, -exponent);
  Diagonals diagonals;
  const std::vector<S> taus = ReduceToTridiagonal(matrix, diagonals);
  vectors = Matrix<S>(n, 0);
  if (wants_vectors) {
    std::vector<Reflector<S>> reflectors;
    for (size_t k = 0; k < taus.size(); ++k) {
      const auto column = static_cast<int64_t>(k);
      reflectors.push_back(Reflector<S>::Of(matrix, column, column + 1, taus[k]));
    }
    vectors = RowsOfProduct(reflectors, n, n, 1);
  }
  RowRotations rotations(context, vectors);
  const bool settles = Settle(diagonals, n, [&](int64_t first, int64_t last, double) {
    TridiagonalStep(diagonals, first, last, rotations);
  });
  if (!settles) return false;
  rotations.Apply();
  values = std::move(diagonals.main);
  for (double& value : values) value = std::ldexp(value, exponent);
  return true;
}

template <typename S>
bool SingularValues(const RunContext& context, Matrix<S> matrix, int64_t left_vectors,
                    bool wants_vectors, std::vector<double>& values, Matrix<S>& left,
                    Matrix<S>& right) {
  const int64_t rows = matrix.rows, columns = matrix.columns;
  const int exponent = ScaleExponent(matrix);
  Scale(matrix, -exponent);
  Bidiagonal<S> bidiagonal(matrix);
  left = Matrix<S>(left_vectors, 0);
  right = Matrix<S>(columns, 0);
  if (wants_vectors) {
    left = RowsOfProduct(bidiagonal.left, rows, left_vectors, 0);
    right = RowsOfProduct(bidiagonal.right, columns, columns, 1);
  }
  RowRotations left_rotations(context, left), right_rotations(context, right);
  Diagonals& diagonals = bidiagonal.diagonals;
  const bool settles = Settle(diagonals, columns, [&](int64_t first, int64_t last, double norm) {
    const bool shifts = !HasZero(diagonals.main, first, last, norm);
    BidiagonalStep(diagonals, first, last, shifts, left_rotations, right_rotations);
  });
  if (!settles) return false;
  left_rotations.Apply();
  right_rotations.Apply();
  values = std::move(diagonals.main);
  for (int64_t k = 0; k < columns; ++k) {
    if (values[k] < 0)
      for (int64_t j = 0; j < right.columns; ++j) right(k, j) = -right(k, j);
    values[k] = std::ldexp(std::abs(values[k]), exponent);
  }
  return true;
}

template bool DiagonalizeHermitian(const RunContext&, Matrix<double>, bool, std::vector<double>&,
                                   Matrix<double>&);
template bool DiagonalizeHermitian(const RunContext&, Matrix<Complex>, bool, std::vector<double>&,
                                   Matrix<Complex>&);
template bool SingularValues(const RunContext&, Matrix<double>, int64_t, bool, std::vector<double>&,
                             Matrix<double>&, Matrix<double>&);
template bool SingularValues(const RunContext&, Matrix<Complex>, int64_t, bool,
                             std::vector<double>&, Matrix<Complex>&, Matrix<Complex>&);

}  // namespace assay::linear_algebra
