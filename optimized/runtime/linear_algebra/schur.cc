// The QR algorithm: with explicit shifts on complex matrices, with double shifts on real ones.
#include "optimized/runtime/linear_algebra/schur.h"

#include <array>
#include <limits>

namespace assay::linear_algebra {
namespace {

constexpr int kMostStepsPerEigenvalue = 60;
constexpr int kStepsToAnUnusualShift = 10;
// In a matrix with large and small elements rounding may leave more beside the small ones than
// epsilon of these: after so many steps epsilon of the whole matrix is taken for nothing, too.
constexpr int kStepsToWholeNorm = 20;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// form becomes upper Hessenberg, basisᴴ form basis.
template <typename S>
void MakeHessenberg(Matrix<S>& form, Matrix<S>& basis) {
  const int64_t n = form.rows;
  const std::vector<S> taus = ReduceToHessenberg(form, 0, n);
  basis = Identity<S>(n, n);
  for (int64_t k = n - 1; k-- > 0;)
    Reflector<S>::Of(form, k, k + 1, taus[k]).FromLeft(basis, k + 1);
  for (int64_t i = 2; i < n; ++i)
    for (int64_t j = 0; j + 1 < i; ++j) form(i, j) = S(0);
}

// In a matrix whose largest element is about one, a smaller number than this is nothing: its
// reciprocal, and the length of a pair of such numbers, would not be right to the last digit.
constexpr double kNothing = std::numeric_limits<double>::min() / kEpsilon;

// The first row of the block that ends with row `last`, after so many steps on that; what separates
// it is set to zero.
template <typename S>
int64_t StartOfBlock(Matrix<S>& form, int64_t last, double norm, int steps) {
  int64_t first = last;
  for (; first > 0; --first) {
    const double near = std::abs(form(first - 1, first - 1)) + std::abs(form(first, first));
    const bool by_norm = near == 0 || steps > kStepsToWholeNorm;
    const double least = std::max(kNothing, kEpsilon / 2 * (by_norm ? norm : near));
    if (std::abs(form(first, first - 1)) > least) continue;
    form(first, first - 1) = S(0);
    break;
  }
  return first;
}

template <typename S>
double LargestOf(const Matrix<S>& matrix) {
  double largest = std::numeric_limits<double>::min();
  for (const S& x : matrix.values) largest = std::max(largest, std::abs(x));
  return largest;
}

// ---- Complex matrices.

// The unitary matrix whose first column is (x, y) over its length.
struct ComplexRotation {
  ComplexRotation(Complex first, Complex second) {
    const double length = std::hypot(std::abs(first), std::abs(second));
    if (length == 0) return;
    x = first / length;
    y = second / length;
  }
  // Rows k and k + 1 from column `from` on, times the adjoint from the left.
  void Rows(Matrix<Complex>& matrix, int64_t k, int64_t from) const {
    for (int64_t j = from; j < matrix.columns; ++j) {
      const Complex a = matrix(k, j), b = matrix(k + 1, j);
      matrix(k, j) = std::conj(x) * a + std::conj(y) * b;
      matrix(k + 1, j) = x * b - y * a;
    }
  }
  // Columns k and k + 1 of the rows before `end`.
  void Columns(Matrix<Complex>& matrix, int64_t k, int64_t end) const {
    for (int64_t i = 0; i < end; ++i) {
      const Complex a = matrix(i, k), b = matrix(i, k + 1);
      matrix(i, k) = a * x + b * y;
      matrix(i, k + 1) = b * std::conj(x) - a * std::conj(y);
    }
  }
  Complex x = 1, y = 0;
};

// The eigenvalue of the last block of two that is nearer to its last element.
Complex NearShift(const Matrix<Complex>& form, int64_t last) {
  const Complex a = form(last - 1, last - 1), d = form(last, last);
  const Complex product = form(last - 1, last) * form(last, last - 1);
  const Complex half = (a - d) / 2.0, root = std::sqrt(half * half + product);
  const Complex sum = std::norm(half + root) > std::norm(half - root) ? half + root : half - root;
  return sum == 0.0 ? d : d - product / sum;
}

// Rows and columns in [first, last] of form - shift are q r; they become r q + shift.
void StepOfQr(Matrix<Complex>& form, Matrix<Complex>& basis, int64_t first, int64_t last,
              Complex shift) {
  for (int64_t k = first; k <= last; ++k) form(k, k) -= shift;
  std::vector<ComplexRotation> rotations;
  for (int64_t k = first; k < last; ++k) {
    rotations.emplace_back(form(k, k), form(k + 1, k));
    rotations.back().Rows(form, k, k);
    form(k + 1, k) = 0;
  }
  for (int64_t k = first; k < last; ++k) {
    rotations[k - first].Columns(form, k, k + 2);
    rotations[k - first].Columns(basis, k, basis.rows);
  }
  for (int64_t k = first; k <= last; ++k) form(k, k) += shift;
}

// ---- Real matrices.

// The turn of columns k and k + 1 by the angle with this cosine and sine, and of the rows.
void Turn(Matrix<double>& form, Matrix<double>& basis, int64_t k, double c, double s) {
  for (int64_t j = k; j < form.columns; ++j) {
    const double a = form(k, j), b = form(k + 1, j);
    form(k, j) = c * a + s * b;
    form(k + 1, j) = c * b - s * a;
  }
  const auto columns = [&](Matrix<double>& m, int64_t end) {
    for (int64_t i = 0; i < end; ++i) {
      const double a = m(i, k), b = m(i, k + 1);
      m(i, k) = c * a + s * b;
      m(i, k + 1) = c * b - s * a;
    }
  };
  columns(form, k + 2);
  columns(basis, basis.rows);
}

// The block of two at k becomes triangular if its eigenvalues are real. If not, its diagonal
// elements become equal.
void Standardize(Matrix<double>& form, Matrix<double>& basis, int64_t k) {
  double &a = form(k, k), &b = form(k, k + 1), &c = form(k + 1, k), &d = form(k + 1, k + 1);
  if (c == 0) return;
  const double half = (a - d) / 2;
  if (half * half + b * c < 0) {
    const double sum = b + c, length = std::hypot(sum, d - a);
    if (length > 0) {
      const double cosine = std::sqrt((1 + std::abs(sum) / length) / 2);
      const double sine = std::copysign(1.0, sum) * (d - a) / length / (2 * cosine);
      Turn(form, basis, k, cosine, sine);
    }
    a = d = (a + d) / 2;
    // Rounding may have made them real after all.
    if (c == 0 || (b < 0) != (c < 0)) return;
  }
  const double p = (a - d) / 2, root = std::sqrt(std::max(0.0, p * p + b * c));
  const double x = p < 0 ? p - root : p + root, y = c, length = std::hypot(x, y);
  Turn(form, basis, k, x / length, y / length);
  c = 0;
}

// 1 - tau u uᵀ on `count` neighbouring rows and columns.
struct SmallReflector {
  SmallReflector(const std::array<double, 3>& x, int count) : u(x), size(count) {
    double largest = 0;
    for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(u[i]));
    if (largest == 0) return;
    // Squares of the parts of u stay in range.
    for (int i = 0; i < size; ++i) u[i] /= largest;
    double below = 0;
    for (int i = 1; i < size; ++i) below += u[i] * u[i];
    const double norm = std::sqrt(below + u[0] * u[0]);
    image = u[0] < 0 ? norm : -norm;
    u[0] -= image;
    tau = 2 / (u[0] * u[0] + below);
    image *= largest;
  }
  void Rows(Matrix<double>& matrix, int64_t k, int64_t from) const {
    for (int64_t j = from; j < matrix.columns; ++j) {
      double sum = 0;
      for (int i = 0; i < size; ++i) sum += u[i] * matrix(k + i, j);
      sum *= tau;
      for (int i = 0; i < size; ++i) matrix(k + i, j) -= sum * u[i];
    }
  }
  void Columns(Matrix<double>& matrix, int64_t k, int64_t end) const {
    for (int64_t i = 0; i < end; ++i) {
      double* row = &matrix(i, k);
      double sum = 0;
      for (int j = 0; j < size; ++j) sum += row[j] * u[j];
      sum *= tau;
      for (int j = 0; j < size; ++j) row[j] -= sum * u[j];
    }
  }
  std::array<double, 3> u;
  int size;
  double tau = 0, image = 0;
};

// Francis's double step on rows and columns in [first, last], at least three of them. The shifts
// are the eigenvalues of the last block of two; if these are real, the one that is nearer to the
// last element, twice: where eigenvalues come as pairs of either sign, both of a pair would have
// their part of the form converge slowly, and of double ones never.
void DoubleStep(Matrix<double>& form, Matrix<double>& basis, int64_t first, int64_t last,
                bool unusual) {
  double x = form(last, last), y = form(last - 1, last - 1),
         w = form(last, last - 1) * form(last - 1, last);
  if (unusual) {
    const double size = std::abs(form(last, last - 1)) + std::abs(form(last - 1, last - 2));
    x = y = x + 0.75 * size;
    w = -0.4375 * size * size;
  } else if (const double half = (y - x) / 2; half * half + w >= 0) {
    const double root = std::sqrt(half * half + w), sum = half < 0 ? half - root : half + root;
    if (sum != 0) x -= w / sum;
    y = x;
    w = 0;
  }
  // The first column of (form - x)(form - y) - w.
  const double below = form(first + 1, first), r = x - form(first, first),
               s = y - form(first, first);
  std::array<double, 3> v = {r * s - w + below * form(first, first + 1),
                             below * (form(first + 1, first + 1) - form(first, first) - r - s),
                             below * form(first + 2, first + 1)};
  for (int64_t k = first; k < last; ++k) {
    const int size = k + 2 <= last ? 3 : 2;
    if (k > first) v = {form(k, k - 1), form(k + 1, k - 1), size == 3 ? form(k + 2, k - 1) : 0};
    const SmallReflector reflector(v, size);
    if (reflector.tau == 0) continue;
    reflector.Rows(form, k, k);
    reflector.Columns(form, k, std::min(k + 4, last + 1));
    reflector.Columns(basis, k, basis.rows);
    if (k == first) continue;
    form(k, k - 1) = reflector.image;
    for (int i = 1; i < size; ++i) form(k + i, k - 1) = 0;
  }
}

// ---- Eigenvectors.

// The element below which a pivot is taken for this size, and beyond which vectors are made
// smaller.
constexpr double kLargeElement = 1e100;

// The eigenvector of an upper triangular form, or of its adjoint, for its k-th eigenvalue.
std::vector<Complex> TriangularEigenvector(const Matrix<Complex>& form, int64_t k, bool of_adjoint,
                                           double least_pivot) {
  const int64_t n = form.rows;
  std::vector<Complex> v(static_cast<size_t>(n));
  v[k] = 1;
  const auto set = [&](int64_t i, Complex sum, Complex pivot) {
    if (std::abs(pivot) < least_pivot) pivot = least_pivot;
    v[i] = -sum / pivot;
    const double size = std::abs(v[i]);
    if (size <= kLargeElement) return;
    for (Complex& x : v) x /= size;
  };
  if (of_adjoint) {
    for (int64_t i = k + 1; i < n; ++i) {
      Complex sum = 0;
      for (int64_t j = k; j < i; ++j) sum += std::conj(form(j, i)) * v[j];
      set(i, sum, std::conj(form(i, i) - form(k, k)));
    }
  } else {
    for (int64_t i = k; i-- > 0;) {
      Complex sum = 0;
      for (int64_t j = i + 1; j <= k; ++j) sum += form(i, j) * v[j];
      set(i, sum, form(i, i) - form(k, k));
    }
  }
  return v;
}

// Makes the vector of length one, its largest element real.
void Normalize(std::vector<Complex>& v) {
  double size = 0;
  Complex largest = 0;
  for (const Complex& x : v) {
    if (std::abs(x) > size) largest = x;
    size = std::max(size, std::abs(x));
  }
  if (size == 0) return;
  double squares = 0;
  for (Complex& x : v) {
    x = x == largest ? Complex(1) : x / largest;
    squares += std::norm(x);
  }
  for (Complex& x : v) x /= std::sqrt(squares);
}

std::vector<Complex> Times(const Matrix<Complex>& basis, const std::vector<Complex>& v) {
  std::vector<Complex> product(v.size());
  for (int64_t i = 0; i < basis.rows; ++i)
    for (int64_t j = 0; j < basis.columns; ++j) product[i] += basis(i, j) * v[j];
  return product;
}

Matrix<Complex> ToComplex(const Matrix<double>& matrix) {
  Matrix<Complex> complex(matrix.rows, matrix.columns);
  std::copy(matrix.values.begin(), matrix.values.end(), complex.values.begin());
  return complex;
}

bool HasBlock(const Matrix<double>& form, int64_t k) {
  return k + 1 < form.rows && form(k + 1, k) != 0;
}

}  // namespace

bool SchurForm(Matrix<Complex>& form, Matrix<Complex>& basis) {
  const int exponent = ScaleExponent(form);
  Scale(form, -exponent);
  MakeHessenberg(form, basis);
  const double norm = LargestOf(form);
  int steps = 0;
  for (int64_t last = form.rows - 1; last > 0;) {
    const int64_t first = StartOfBlock(form, last, norm, steps);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMostStepsPerEigenvalue) return false;
    const bool unusual = steps % kStepsToAnUnusualShift == 0;
    const double size = std::abs(form(last, last - 1));
    StepOfQr(form, basis, first, last, unusual ? form(last, last) + size : NearShift(form, last));
  }
  Scale(form, exponent);
  return true;
}

bool SchurForm(Matrix<double>& form, Matrix<double>& basis) {
  const int exponent = ScaleExponent(form);
  Scale(form, -exponent);
  MakeHessenberg(form, basis);
  const double norm = LargestOf(form);
  int steps = 0;
  for (int64_t last = form.rows - 1; last > 0;) {
    const int64_t first = StartOfBlock(form, last, norm, steps);
    if (first + 1 < last) {
      if (++steps > kMostStepsPerEigenvalue) return false;
      DoubleStep(form, basis, first, last, steps % kStepsToAnUnusualShift == 0);
      continue;
    }
    if (first < last) Standardize(form, basis, first);
    last = first - 1;
    steps = 0;
  }
  Scale(form, exponent);
  return true;
}

std::vector<Complex> EigenvaluesOf(const Matrix<Complex>& form) {
  std::vector<Complex> values;
  for (int64_t k = 0; k < form.rows; ++k) values.push_back(form(k, k));
  return values;
}

std::vector<Complex> EigenvaluesOf(const Matrix<double>& form) {
  std::vector<Complex> values;
  for (int64_t k = 0; k < form.rows; ++k) {
    values.emplace_back(form(k, k));
    if (!HasBlock(form, k)) continue;
    const double size = std::sqrt(std::abs(form(k, k + 1))) * std::sqrt(std::abs(form(k + 1, k)));
    values.back() = Complex(form(k, k), size);
    values.push_back(std::conj(values.back()));
    ++k;
  }
  return values;
}

Matrix<Complex> EigenvectorsOf(const Matrix<Complex>& form, const Matrix<Complex>& basis,
                               bool left) {
  const double least_pivot = kEpsilon * LargestOf(form);
  Matrix<Complex> vectors(form.rows, form.rows);
  for (int64_t k = 0; k < form.rows; ++k) {
    std::vector<Complex> v = TriangularEigenvector(form, k, left, least_pivot);
    Normalize(v);
    v = Times(basis, v);
    Normalize(v);
    for (int64_t i = 0; i < form.rows; ++i) vectors(i, k) = v[i];
  }
  return vectors;
}

Matrix<Complex> EigenvectorsOf(const Matrix<double>& form, const Matrix<double>& basis, bool left) {
  const std::vector<Complex> values = EigenvaluesOf(form);
  Matrix<Complex> triangular = ToComplex(form), unitary = ToComplex(basis);
  for (int64_t k = 0; k < form.rows; ++k) {
    if (!HasBlock(form, k)) continue;
    // The eigenvector of the block becomes its first unit vector.
    const ComplexRotation rotation(values[k] - form(k + 1, k + 1), form(k + 1, k));
    rotation.Rows(triangular, k, k);
    rotation.Columns(triangular, k, k + 2);
    rotation.Columns(unitary, k, unitary.rows);
    triangular(k + 1, k) = 0;
    triangular(k, k) = values[k];
    triangular(k + 1, k + 1) = values[k + 1];
    ++k;
  }
  Matrix<Complex> vectors = EigenvectorsOf(triangular, unitary, left);
  for (int64_t k = 0; k < form.rows; ++k) {
    if (HasBlock(form, k)) {
      for (int64_t i = 0; i < form.rows; ++i) vectors(i, k + 1) = std::conj(vectors(i, k));
      ++k;
      continue;
    }
    std::vector<Complex> v;
    for (int64_t i = 0; i < form.rows; ++i) v.emplace_back(vectors(i, k).real());
    Normalize(v);
    for (int64_t i = 0; i < form.rows; ++i) vectors(i, k) = v[i];
  }
  return vectors;
}

}  // namespace assay::linear_algebra
