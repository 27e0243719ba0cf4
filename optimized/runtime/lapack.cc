// Elimination with pivots, Householder's reflectors, Jacobi's rotations.
#include "optimized/runtime/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace assay {
namespace {

using Complex = std::complex<double>;

double Conjugate(double x) { return x; }
Complex Conjugate(Complex x) { return std::conj(x); }
double Real(double x) { return x; }
double Real(Complex x) { return x.real(); }
double Squared(double x) { return x * x; }
double Squared(Complex x) { return std::norm(x); }
// By which LAPACK chooses pivots.
template <typename T>
  requires std::is_floating_point_v<T>
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
bool IsFinite(const Matrix<S>& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(),
                     [](const S& x) { return std::isfinite(std::abs(x)); });
}

// The reflector 1 - tau v vᴴ, v starting with 1, that takes column k from row k on to a multiple of
// the first unit vector; v is stored below it.
template <typename S>
S MakeReflector(Matrix<S>& matrix, int64_t k) {
  double below = 0;
  for (int64_t i = k + 1; i < matrix.rows; ++i) below += Squared(matrix(i, k));
  const S alpha = matrix(k, k);
  if (below == 0 && alpha == S(Real(alpha))) return S(0);
  const double norm = std::sqrt(below + Squared(alpha));
  const double beta = Real(alpha) < 0 ? norm : -norm;
  const S scale = alpha - beta;
  for (int64_t i = k + 1; i < matrix.rows; ++i) matrix(i, k) /= scale;
  matrix(k, k) = beta;
  return (beta - alpha) / beta;
}

// target = (1 - tau v vᴴ) target for columns from `from` on, v in column k of `m`.
template <typename S>
void Reflect(const Matrix<S>& matrix, int64_t k, S tau, Matrix<S>& target, int64_t from) {
  std::vector<S> sums(target.values.begin() + k * target.columns,
                      target.values.begin() + (k + 1) * target.columns);
  for (int64_t i = k + 1; i < target.rows; ++i) {
    const S v = Conjugate(matrix(i, k));
    for (int64_t j = from; j < target.columns; ++j) sums[j] += v * target(i, j);
  }
  for (int64_t j = from; j < target.columns; ++j) {
    sums[j] *= tau;
    target(k, j) -= sums[j];
  }
  for (int64_t i = k + 1; i < target.rows; ++i) {
    const S v = matrix(i, k);
    for (int64_t j = from; j < target.columns; ++j) target(i, j) -= v * sums[j];
  }
}

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

constexpr int kMostSweeps = 60;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

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

// One routine on matrices of element type E, computed in S.
template <typename E>
class Lapack {
  static constexpr bool kIsComplex = !std::is_floating_point_v<E>;
  using S = std::conditional_t<kIsComplex, Complex, double>;
  using M = Matrix<S>;

 public:
  Lapack(const LapackPlan& plan, const void* const* operands, void* const* results)
      : plan_(plan), operands_(operands), results_(results) {}

  void Run() {
    for (batch_ = 0; batch_ < plan_.matrices; ++batch_) {
      switch (static_cast<LapackRoutine>(plan_.routine)) {
        case LapackRoutine::kLu:
          Lu();
          break;
        case LapackRoutine::kCholesky:
          Cholesky();
          break;
        case LapackRoutine::kSolve:
          Solve();
          break;
        case LapackRoutine::kQr:
          Qr();
          break;
        case LapackRoutine::kReflectorProduct:
          ReflectorProduct();
          break;
        case LapackRoutine::kReflect:
          ReflectOther();
          break;
        case LapackRoutine::kHermitianEigen:
          HermitianEigen();
          break;
        case LapackRoutine::kSingular:
          Singular();
          break;
        case LapackRoutine::kTridiagonalSolve:
          TridiagonalSolve();
          break;
      }
    }
  }

 private:
  bool Has(LapackForm form) const { return (plan_.form & form) != 0; }

  M Read(int64_t k, int64_t rows, int64_t columns) const {
    M m(rows, columns);
    const E* from = static_cast<const E*>(operands_[k]) + batch_ * rows * columns;
    for (size_t i = 0; i < m.values.size(); ++i) m.values[i] = static_cast<S>(from[i]);
    return m;
  }
  M ReadFirst() const { return Read(0, plan_.rows, plan_.columns); }

  static E Rounded(S x) {
    if constexpr (kIsComplex) {
      using T = typename E::value_type;
      return E(static_cast<T>(x.real()), static_cast<T>(x.imag()));
    } else {
      return static_cast<E>(x);
    }
  }
  void Write(int64_t k, const std::vector<S>& values) const {
    const auto count = static_cast<int64_t>(values.size());
    E* to = static_cast<E*>(results_[k]) + batch_ * count;
    for (int64_t i = 0; i < count; ++i) to[i] = Rounded(values[i]);
  }
  void WriteReal(int64_t k, const std::vector<double>& values) const {
    const auto count = static_cast<int64_t>(values.size());
    if constexpr (kIsComplex) {
      using T = typename E::value_type;
      T* to = static_cast<T*>(results_[k]) + batch_ * count;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(values[i]);
    } else {
      Write(k, values);
    }
  }
  void WriteIntegers(int64_t k, const std::vector<int64_t>& values) const {
    const auto count = static_cast<int64_t>(values.size());
    int32_t* to = static_cast<int32_t*>(results_[k]) + batch_ * count;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int32_t>(values[i]);
  }

  void Lu() const {
    M a = ReadFirst();
    const int64_t origin = Has(kLapackExpander) ? 0 : 1;
    std::vector<int64_t> pivots, order(a.rows);
    std::iota(order.begin(), order.end(), 0);
    int64_t info = 0;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      int64_t best = k;
      for (int64_t i = k + 1; i < a.rows; ++i)
        if (PivotSize(a(i, k)) > PivotSize(a(best, k))) best = i;
      pivots.push_back(best + origin);
      std::swap(order[k], order[best]);
      for (int64_t j = 0; best != k && j < a.columns; ++j) std::swap(a(k, j), a(best, j));
      if (a(k, k) == S(0)) {
        if (info == 0) info = k + 1;
        continue;
      }
      for (int64_t i = k + 1; i < a.rows; ++i) {
        const S factor = a(i, k) / a(k, k);
        a(i, k) = factor;
        for (int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= factor * a(k, j);
      }
    }
    Write(0, a.values);
    WriteIntegers(1, pivots);
    WriteIntegers(2, Has(kLapackExpander) ? order : std::vector<int64_t>{info});
  }

  void Cholesky() const {
    const M a = ReadFirst();
    const int64_t n = a.rows;
    const bool lower = Has(kLapackLower);
    M l(n, n);
    int64_t info = 0;
    for (int64_t i = 0; i < n && info == 0; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        S rest = lower ? a(i, j) : Conjugate(a(j, i));
        for (int64_t k = 0; k < j; ++k) rest -= l(i, k) * Conjugate(l(j, k));
        if (i != j) {
          l(i, j) = rest / l(j, j);
        } else if (Real(rest) > 0) {
          l(i, i) = std::sqrt(Real(rest));
        } else {
          info = i + 1;
        }
      }
    }
    if (info != 0) {
      std::fill(l.values.begin(), l.values.end(), S(std::numeric_limits<double>::quiet_NaN()));
    }
    Write(0, lower ? l.values : Adjoint(l).values);
    WriteIntegers(1, {info});
  }

  void Solve() const {
    M a = ReadFirst();
    M b = Read(1, plan_.other_rows, plan_.other_columns);
    const bool left = Has(kLapackLeft);
    // From the right it is the system of the transposes.
    const bool swapped = Has(kLapackTransposed) == left;
    const bool lower = Has(kLapackLower) != swapped;
    const int64_t n = a.rows, systems = left ? b.columns : b.rows;
    for (S& x : a.values) x = Has(kLapackConjugated) ? Conjugate(x) : x;
    const auto coefficient = [&](int64_t i, int64_t j) { return swapped ? a(j, i) : a(i, j); };
    for (int64_t c = 0; c < systems; ++c) {
      const auto at = [&](int64_t i) -> S& { return left ? b(i, c) : b(c, i); };
      for (int64_t step = 0; step < n; ++step) {
        const int64_t row = lower ? step : n - 1 - step;
        S rest = at(row);
        for (int64_t done = 0; done < step; ++done) {
          const int64_t column = lower ? done : n - 1 - done;
          rest -= coefficient(row, column) * at(column);
        }
        at(row) = Has(kLapackUnitDiagonal) ? rest : rest / coefficient(row, row);
      }
    }
    Write(0, b.values);
  }

  void Qr() const {
    M a = ReadFirst();
    std::vector<S> taus;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      taus.push_back(MakeReflector(a, k));
      Reflect(a, k, Conjugate(taus.back()), a, k + 1);
    }
    Write(0, a.values);
    Write(1, taus);
  }

  void ReflectorProduct() const {
    const M a = ReadFirst();
    const M taus = Read(1, 1, plan_.reflectors);
    M q = Identity<S>(a.rows, a.columns);
    for (int64_t k = std::min({taus.columns, a.columns, a.rows}); k-- > 0;) {
      Reflect(a, k, taus(0, k), q, 0);
    }
    Write(0, q.values);
  }

  void ReflectOther() const {
    const M a = ReadFirst();
    const M taus = Read(1, 1, plan_.reflectors);
    M c = Read(2, plan_.other_rows, plan_.other_columns);
    const bool left = Has(kLapackLeft), adjoint = Has(kLapackTransposed);
    // c q is the adjoint of qᴴ cᴴ.
    if (!left) c = Adjoint(c);
    const bool of_adjoint = adjoint == left;
    const int64_t count = std::min({taus.columns, a.columns, a.rows});
    for (int64_t step = 0; step < count; ++step) {
      const int64_t k = of_adjoint ? step : count - 1 - step;
      Reflect(a, k, of_adjoint ? Conjugate(taus(0, k)) : taus(0, k), c, 0);
    }
    Write(0, left ? c.values : Adjoint(c).values);
  }

  void HermitianEigen() const {
    M a = ReadFirst();
    const int64_t n = a.rows;
    for (int64_t i = 0; i < n; ++i) {
      a(i, i) = S(Real(a(i, i)));
      for (int64_t j = 0; j < i; ++j) {
        if (Has(kLapackLower)) {
          a(j, i) = Conjugate(a(i, j));
        } else {
          a(i, j) = Conjugate(a(j, i));
        }
      }
    }
    const bool finite = IsFinite(a);
    M v = Identity<S>(n, n);
    if (finite) Diagonalize(a, v);
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    if (finite) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t x, int64_t y) { return Real(a(x, x)) < Real(a(y, y)); });
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values(n, nan);
    M vectors(n, n);
    for (int64_t k = 0; k < n; ++k) {
      if (finite) values[k] = Real(a(order[k], order[k]));
      for (int64_t i = 0; i < n; ++i) vectors(i, k) = finite ? v(i, order[k]) : S(nan);
    }
    Write(0, vectors.values);
    WriteReal(1, values);
    if (!Has(kLapackExpander)) WriteIntegers(2, {0});
  }

  void Singular() const {
    const M a = ReadFirst();
    const bool tall = a.rows >= a.columns, finite = IsFinite(a);
    M g = tall ? a : Adjoint(a);
    M v = Identity<S>(g.columns, g.columns);
    if (finite) Orthogonalize(g, v);
    std::vector<double> sizes(g.columns);
    for (int64_t i = 0; i < g.rows; ++i)
      for (int64_t j = 0; j < g.columns; ++j) sizes[j] += Squared(g(i, j));
    std::vector<int64_t> order(g.columns);
    std::iota(order.begin(), order.end(), 0);
    if (finite) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t x, int64_t y) { return sizes[x] > sizes[y]; });
    }
    std::vector<double> values;
    M left(g.rows, g.rows), right(g.columns, g.columns);
    int64_t nonzero = 0;
    for (int64_t k = 0; k < g.columns; ++k) {
      const double size = std::sqrt(sizes[order[k]]);
      values.push_back(finite ? size : std::numeric_limits<double>::quiet_NaN());
      for (int64_t i = 0; i < g.columns; ++i) right(i, k) = v(i, order[k]);
      if (!(size > 0)) continue;
      ++nonzero;
      for (int64_t i = 0; i < g.rows; ++i) left(i, k) = g(i, order[k]) / size;
    }
    CompleteBasis(left, nonzero);
    WriteSingular(a, values, tall ? left : right, tall ? right : left);
  }

  // Writes as many columns of u, and of v as conjugated rows, as the results have room for.
  void WriteSingular(const M& a, const std::vector<double>& values, const M& u, const M& v) const {
    M u_part(a.rows, plan_.reflectors), v_part(plan_.other_rows, a.columns);
    for (int64_t i = 0; i < u_part.rows; ++i)
      for (int64_t k = 0; k < std::min(u_part.columns, u.columns); ++k) u_part(i, k) = u(i, k);
    for (int64_t k = 0; k < std::min(v_part.rows, v.columns); ++k)
      for (int64_t j = 0; j < v_part.columns; ++j) v_part(k, j) = Conjugate(v(j, k));
    Write(0, a.values);
    WriteReal(1, values);
    Write(2, u_part.values);
    Write(3, v_part.values);
    WriteIntegers(4, {0});
  }

  // This step costs little, so it is computed in the widest type.
  using L = std::conditional_t<kIsComplex, std::complex<long double>, long double>;
  static Matrix<L> Widened(const M& m) {
    Matrix<L> wide(m.rows, m.columns);
    for (size_t i = 0; i < m.values.size(); ++i) wide.values[i] = static_cast<L>(m.values[i]);
    return wide;
  }
  static std::vector<S> Narrowed(const Matrix<L>& matrix) {
    std::vector<S> values;
    for (const L& x : matrix.values) values.push_back(static_cast<S>(x));
    return values;
  }

  // Elimination in a band: exchanging neighbours fills the second diagonal above.
  void TridiagonalSolve() const {
    const int64_t n = plan_.columns;
    Matrix<L> below = Widened(Read(0, 1, n)), diagonal = Widened(Read(1, 1, n)),
              above = Widened(Read(2, 1, n)), b = Widened(Read(3, n, plan_.other_rows));
    std::vector<L> second(n);
    int64_t info = 0;
    const auto lower = [&](int64_t i) -> L& { return below(0, i + 1); };  // of row i + 1
    for (int64_t i = 0; i + 1 < n; ++i) {
      if (PivotSize(lower(i)) > PivotSize(diagonal(0, i))) {
        std::swap(diagonal(0, i), lower(i));
        std::swap(above(0, i), diagonal(0, i + 1));
        if (i + 2 < n) std::swap(second[i], above(0, i + 1));
        for (int64_t c = 0; c < b.columns; ++c) std::swap(b(i, c), b(i + 1, c));
      }
      if (diagonal(0, i) == L(0)) {
        if (info == 0) info = i + 1;
        continue;
      }
      const L factor = lower(i) / diagonal(0, i);
      diagonal(0, i + 1) -= factor * above(0, i);
      if (i + 2 < n) above(0, i + 1) -= factor * second[i];
      for (int64_t c = 0; c < b.columns; ++c) b(i + 1, c) -= factor * b(i, c);
    }
    if (n > 0 && info == 0 && diagonal(0, n - 1) == L(0)) info = n;
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t i = n; i-- > 0;) {
        if (i + 1 < n) b(i, c) -= above(0, i) * b(i + 1, c);
        if (i + 2 < n) b(i, c) -= second[i] * b(i + 2, c);
        b(i, c) /= diagonal(0, i);
      }
    }
    Write(0, Narrowed(below));
    Write(1, Narrowed(diagonal));
    Write(2, Narrowed(above));
    Write(3, Narrowed(b));
    WriteIntegers(4, {info});
  }

  const LapackPlan& plan_;
  const void* const* operands_;
  void* const* results_;
  int64_t batch_ = 0;
};

}  // namespace

bool IsLapackType(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kC64 ||
         type == ElementType::kC128;
}

void RunLapack(const LapackPlan* plan, const void* const* operands, void* const* results) {
  switch (static_cast<ElementType>(plan->type)) {
    case ElementType::kF32:
      return Lapack<float>(*plan, operands, results).Run();
    case ElementType::kF64:
      return Lapack<double>(*plan, operands, results).Run();
    case ElementType::kC64:
      return Lapack<std::complex<float>>(*plan, operands, results).Run();
    default:
      return Lapack<std::complex<double>>(*plan, operands, results).Run();
  }
}

}  // namespace assay
