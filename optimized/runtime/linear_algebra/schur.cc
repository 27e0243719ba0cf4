// The QR algorithm: with explicit shifts on complex matrices, with double shifts on real ones.
#include "optimized/runtime/linear_algebra/schur.h"

#include <array>
#include <limits>

namespace assay::linear_algebra {
namespace {

constexpr int kMostStepsPerEigenvalue = 60;
constexpr int kStepsToAnUnusualShift = 10;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The exponent by which the elements are divided, so that squares stay in range.
template <typename S>
int ScaleExponent(const Matrix<S>& matrix) {
  double largest = 0;
  for (const S& x : matrix.values) largest = std::max(largest, std::abs(x));
  return largest == 0 ? 0 : std::ilogb(largest);
}
void Scale(Matrix<double>& matrix, int exponent) {
  for (double& x : matrix.values) x = std::ldexp(x, exponent);
}
void Scale(Matrix<Complex>& matrix, int exponent) {
  for (Complex& x : matrix.values)
    x = Complex(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
}

// t becomes upper Hessenberg, zᴴ t z.
template <typename S>
void MakeHessenberg(Matrix<S>& t, Matrix<S>& z) {
  const int64_t n = t.rows;
  const std::vector<S> taus = ReduceToHessenberg(t, 0, n);
  z = Identity<S>(n, n);
  for (int64_t k = n - 1; k-- > 0;) Reflector<S>::Of(t, k, k + 1, taus[k]).FromLeft(z, k + 1);
  for (int64_t i = 2; i < n; ++i)
    for (int64_t j = 0; j + 1 < i; ++j) t(i, j) = S(0);
}

// The first row of the block that ends with row `last`; what separates it is set to zero.
template <typename S>
int64_t StartOfBlock(Matrix<S>& t, int64_t last, double norm) {
  int64_t first = last;
  for (; first > 0; --first) {
    const double near = std::abs(t(first - 1, first - 1)) + std::abs(t(first, first));
    if (std::abs(t(first, first - 1)) > kEpsilon / 2 * (near == 0 ? norm : near)) continue;
    t(first, first - 1) = S(0);
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
  void Rows(Matrix<Complex>& m, int64_t k, int64_t from) const {
    for (int64_t j = from; j < m.columns; ++j) {
      const Complex a = m(k, j), b = m(k + 1, j);
      m(k, j) = std::conj(x) * a + std::conj(y) * b;
      m(k + 1, j) = x * b - y * a;
    }
  }
  // Columns k and k + 1 of the rows before `end`.
  void Columns(Matrix<Complex>& m, int64_t k, int64_t end) const {
    for (int64_t i = 0; i < end; ++i) {
      const Complex a = m(i, k), b = m(i, k + 1);
      m(i, k) = a * x + b * y;
      m(i, k + 1) = b * std::conj(x) - a * std::conj(y);
    }
  }
  Complex x = 1, y = 0;
};

// The eigenvalue of the last block of two that is nearer to its last element.
Complex NearShift(const Matrix<Complex>& t, int64_t last) {
  const Complex a = t(last - 1, last - 1), d = t(last, last);
  const Complex product = t(last - 1, last) * t(last, last - 1);
  const Complex half = (a - d) / 2.0, root = std::sqrt(half * half + product);
  const Complex sum = std::norm(half + root) > std::norm(half - root) ? half + root : half - root;
  return sum == 0.0 ? d : d - product / sum;
}

// Rows and columns in [first, last] of t - shift are q r; they become r q + shift.
void StepOfQr(Matrix<Complex>& t, Matrix<Complex>& z, int64_t first, int64_t last, Complex shift) {
  for (int64_t k = first; k <= last; ++k) t(k, k) -= shift;
  std::vector<ComplexRotation> rotations;
  for (int64_t k = first; k < last; ++k) {
    rotations.emplace_back(t(k, k), t(k + 1, k));
    rotations.back().Rows(t, k, k);
    t(k + 1, k) = 0;
  }
  for (int64_t k = first; k < last; ++k) {
    rotations[k - first].Columns(t, k, k + 2);
    rotations[k - first].Columns(z, k, z.rows);
  }
  for (int64_t k = first; k <= last; ++k) t(k, k) += shift;
}

// ---- Real matrices.

// The turn of columns k and k + 1 by the angle with this cosine and sine, and of the rows.
void Turn(Matrix<double>& t, Matrix<double>& z, int64_t k, double c, double s) {
  for (int64_t j = k; j < t.columns; ++j) {
    const double a = t(k, j), b = t(k + 1, j);
    t(k, j) = c * a + s * b;
    t(k + 1, j) = c * b - s * a;
  }
  const auto columns = [&](Matrix<double>& m, int64_t end) {
    for (int64_t i = 0; i < end; ++i) {
      const double a = m(i, k), b = m(i, k + 1);
      m(i, k) = c * a + s * b;
      m(i, k + 1) = c * b - s * a;
    }
  };
  columns(t, k + 2);
  columns(z, z.rows);
}

// The block of two at k becomes triangular if its eigenvalues are real. If not, its diagonal
// elements become equal.
void Standardize(Matrix<double>& t, Matrix<double>& z, int64_t k) {
  double &a = t(k, k), &b = t(k, k + 1), &c = t(k + 1, k), &d = t(k + 1, k + 1);
  if (c == 0) return;
  const double half = (a - d) / 2;
  if (half * half + b * c < 0) {
    const double sum = b + c, length = std::hypot(sum, d - a);
    if (length > 0) {
      const double cosine = std::sqrt((1 + std::abs(sum) / length) / 2);
      const double sine = std::copysign(1.0, sum) * (d - a) / length / (2 * cosine);
      Turn(t, z, k, cosine, sine);
    }
    a = d = (a + d) / 2;
    // Rounding may have made them real after all.
    if (c == 0 || (b < 0) != (c < 0)) return;
  }
  const double p = (a - d) / 2, root = std::sqrt(std::max(0.0, p * p + b * c));
  const double x = p < 0 ? p - root : p + root, y = c, length = std::hypot(x, y);
  Turn(t, z, k, x / length, y / length);
  c = 0;
}

// 1 - tau u uᵀ on `count` neighbouring rows and columns.
struct SmallReflector {
  SmallReflector(const std::array<double, 3>& x, int count) : u(x), size(count) {
    double below = 0;
    for (int i = 1; i < size; ++i) below += u[i] * u[i];
    const double norm = std::sqrt(below + u[0] * u[0]);
    if (norm == 0) return;
    image = u[0] < 0 ? norm : -norm;
    u[0] -= image;
    tau = 2 / (u[0] * u[0] + below);
  }
  void Rows(Matrix<double>& m, int64_t k, int64_t from) const {
    for (int64_t j = from; j < m.columns; ++j) {
      double sum = 0;
      for (int i = 0; i < size; ++i) sum += u[i] * m(k + i, j);
      sum *= tau;
      for (int i = 0; i < size; ++i) m(k + i, j) -= sum * u[i];
    }
  }
  void Columns(Matrix<double>& m, int64_t k, int64_t end) const {
    for (int64_t i = 0; i < end; ++i) {
      double* row = &m(i, k);
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

// Francis's double step on rows and columns in [first, last], at least three of them: the shifts
// are the eigenvalues of the last block of two.
void DoubleStep(Matrix<double>& t, Matrix<double>& z, int64_t first, int64_t last, bool unusual) {
  double x = t(last, last), y = t(last - 1, last - 1), w = t(last, last - 1) * t(last - 1, last);
  if (unusual) {
    const double size = std::abs(t(last, last - 1)) + std::abs(t(last - 1, last - 2));
    x = y = 0.75 * size;
    w = -0.4375 * size * size;
  }
  // The first column of (t - x)(t - y) - w, over its element below the diagonal.
  const double below = t(first + 1, first), r = x - t(first, first), s = y - t(first, first);
  std::array<double, 3> v = {(r * s - w) / below + t(first, first + 1),
                             t(first + 1, first + 1) - t(first, first) - r - s,
                             t(first + 2, first + 1)};
  for (int64_t k = first; k < last; ++k) {
    const int size = k + 2 <= last ? 3 : 2;
    if (k > first) v = {t(k, k - 1), t(k + 1, k - 1), size == 3 ? t(k + 2, k - 1) : 0};
    const SmallReflector reflector(v, size);
    if (reflector.tau == 0) continue;
    reflector.Rows(t, k, k);
    reflector.Columns(t, k, std::min(k + 4, last + 1));
    reflector.Columns(z, k, z.rows);
    if (k == first) continue;
    t(k, k - 1) = reflector.image;
    for (int i = 1; i < size; ++i) t(k + i, k - 1) = 0;
  }
}

// ---- Eigenvectors.

// The element below which a pivot is taken for this size, and beyond which vectors are made
// smaller.
constexpr double kLargeElement = 1e100;

// The eigenvector of an upper triangular t, or of its adjoint, for its k-th eigenvalue.
std::vector<Complex> TriangularEigenvector(const Matrix<Complex>& t, int64_t k, bool of_adjoint,
                                           double least_pivot) {
  const int64_t n = t.rows;
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
      for (int64_t j = k; j < i; ++j) sum += std::conj(t(j, i)) * v[j];
      set(i, sum, std::conj(t(i, i) - t(k, k)));
    }
  } else {
    for (int64_t i = k; i-- > 0;) {
      Complex sum = 0;
      for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * v[j];
      set(i, sum, t(i, i) - t(k, k));
    }
  }
  return v;
}

// Of length one, its largest element real.
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

std::vector<Complex> Times(const Matrix<Complex>& z, const std::vector<Complex>& v) {
  std::vector<Complex> product(v.size());
  for (int64_t i = 0; i < z.rows; ++i)
    for (int64_t j = 0; j < z.columns; ++j) product[i] += z(i, j) * v[j];
  return product;
}

Matrix<Complex> ToComplex(const Matrix<double>& matrix) {
  Matrix<Complex> complex(matrix.rows, matrix.columns);
  std::copy(matrix.values.begin(), matrix.values.end(), complex.values.begin());
  return complex;
}

bool HasBlock(const Matrix<double>& t, int64_t k) { return k + 1 < t.rows && t(k + 1, k) != 0; }

}  // namespace

bool SchurForm(Matrix<Complex>& t, Matrix<Complex>& z) {
  const int exponent = ScaleExponent(t);
  Scale(t, -exponent);
  MakeHessenberg(t, z);
  const double norm = LargestOf(t);
  int steps = 0;
  for (int64_t last = t.rows - 1; last > 0;) {
    const int64_t first = StartOfBlock(t, last, norm);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMostStepsPerEigenvalue) return false;
    const bool unusual = steps % kStepsToAnUnusualShift == 0;
    const double size = std::abs(t(last, last - 1));
    StepOfQr(t, z, first, last, unusual ? t(last, last) + size : NearShift(t, last));
  }
  Scale(t, exponent);
  return true;
}

bool SchurForm(Matrix<double>& t, Matrix<double>& z) {
  const int exponent = ScaleExponent(t);
  Scale(t, -exponent);
  MakeHessenberg(t, z);
  const double norm = LargestOf(t);
  int steps = 0;
  for (int64_t last = t.rows - 1; last > 0;) {
    const int64_t first = StartOfBlock(t, last, norm);
    if (first + 1 < last) {
      if (++steps > kMostStepsPerEigenvalue) return false;
      DoubleStep(t, z, first, last, steps % kStepsToAnUnusualShift == 0);
      continue;
    }
    if (first < last) Standardize(t, z, first);
    last = first - 1;
    steps = 0;
  }
  Scale(t, exponent);
  return true;
}

std::vector<Complex> EigenvaluesOf(const Matrix<Complex>& t) {
  std::vector<Complex> values;
  for (int64_t k = 0; k < t.rows; ++k) values.push_back(t(k, k));
  return values;
}

std::vector<Complex> EigenvaluesOf(const Matrix<double>& t) {
  std::vector<Complex> values;
  for (int64_t k = 0; k < t.rows; ++k) {
    values.emplace_back(t(k, k));
    if (!HasBlock(t, k)) continue;
    const double size = std::sqrt(std::abs(t(k, k + 1))) * std::sqrt(std::abs(t(k + 1, k)));
    values.back() = Complex(t(k, k), size);
    values.push_back(std::conj(values.back()));
    ++k;
  }
  return values;
}

Matrix<Complex> EigenvectorsOf(const Matrix<Complex>& t, const Matrix<Complex>& z, bool left) {
  const double least_pivot = kEpsilon * LargestOf(t);
  Matrix<Complex> vectors(t.rows, t.rows);
  for (int64_t k = 0; k < t.rows; ++k) {
    std::vector<Complex> v = TriangularEigenvector(t, k, left, least_pivot);
    Normalize(v);
    v = Times(z, v);
    Normalize(v);
    for (int64_t i = 0; i < t.rows; ++i) vectors(i, k) = v[i];
  }
  return vectors;
}

Matrix<Complex> EigenvectorsOf(const Matrix<double>& t, const Matrix<double>& z, bool left) {
  const std::vector<Complex> values = EigenvaluesOf(t);
  Matrix<Complex> triangular = ToComplex(t), basis = ToComplex(z);
  for (int64_t k = 0; k < t.rows; ++k) {
    if (!HasBlock(t, k)) continue;
    // The eigenvector of the block becomes its first unit vector.
    const ComplexRotation rotation(values[k] - t(k + 1, k + 1), t(k + 1, k));
    rotation.Rows(triangular, k, k);
    rotation.Columns(triangular, k, k + 2);
    rotation.Columns(basis, k, basis.rows);
    triangular(k + 1, k) = 0;
    triangular(k, k) = values[k];
    triangular(k + 1, k + 1) = values[k + 1];
    ++k;
  }
  Matrix<Complex> vectors = EigenvectorsOf(triangular, basis, left);
  for (int64_t k = 0; k < t.rows; ++k) {
    if (HasBlock(t, k)) {
      for (int64_t i = 0; i < t.rows; ++i) vectors(i, k + 1) = std::conj(vectors(i, k));
      ++k;
      continue;
    }
    std::vector<Complex> v;
    for (int64_t i = 0; i < t.rows; ++i) v.emplace_back(vectors(i, k).real());
    Normalize(v);
    for (int64_t i = 0; i < t.rows; ++i) vectors(i, k) = v[i];
  }
  return vectors;
}

}  // namespace assay::linear_algebra
