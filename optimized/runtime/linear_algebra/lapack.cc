// Elimination with pivots, and factorisations by reflectors and rotations.
#include "optimized/runtime/linear_algebra/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "optimized/runtime/linear_algebra/blocked.h"
#include "optimized/runtime/linear_algebra/diagonal.h"
#include "optimized/runtime/linear_algebra/matrix.h"
#include "optimized/runtime/linear_algebra/schur.h"
#include "optimized/runtime/run_context.h"

namespace assay {
namespace {

using namespace linear_algebra;  // NOLINT(google-build-using-namespace)

// One routine on matrices of element type E, computed in S.
template <typename E>
class Lapack {
  static constexpr bool kIsComplex = !std::is_floating_point_v<E>;
  using S = std::conditional_t<kIsComplex, Complex, double>;
  using M = Matrix<S>;

 public:
  Lapack(RunContext& context, const LapackPlan& plan, const void* const* operands,
         void* const* results)
      : context_(context),
        blocked_(context, static_cast<KernelIsa>(plan.isa)),
        plan_(plan),
        operands_(operands),
        results_(results) {}

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
        case LapackRoutine::kPivotedQr:
          PivotedQr();
          break;
        case LapackRoutine::kHessenberg:
          Hessenberg();
          break;
        case LapackRoutine::kTridiagonal:
          Tridiagonal();
          break;
        case LapackRoutine::kGeneralEigen:
          GeneralEigen();
          break;
        case LapackRoutine::kSchur:
          Schur();
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
  // To a result of complex numbers of E's precision.
  void WriteComplex(int64_t k, const std::vector<Complex>& values) const {
    const auto count = static_cast<int64_t>(values.size());
    if constexpr (kIsComplex) {
      Write(k, values);
    } else {
      auto* to = static_cast<std::complex<E>*>(results_[k]) + batch_ * count;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<std::complex<E>>(values[i]);
    }
  }
  // Eigenvalues from result k on, the parts of a real matrix's apart. Returns the next result.
  int64_t WriteEigenvalues(int64_t k, const std::vector<Complex>& values) const {
    if constexpr (kIsComplex) {
      Write(k, values);
      return k + 1;
    } else {
      std::vector<double> real, imaginary;
      for (const Complex& value : values) {
        real.push_back(value.real());
        imaginary.push_back(value.imag());
      }
      Write(k, real);
      Write(k + 1, imaginary);
      return k + 2;
    }
  }
  void WriteIntegers(int64_t k, const std::vector<int64_t>& values) const {
    const auto count = static_cast<int64_t>(values.size());
    int32_t* to = static_cast<int32_t*>(results_[k]) + batch_ * count;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int32_t>(values[i]);
  }

  // In which short routines compute: rounding alone would cost a result near zero its digits.
  using L = std::conditional_t<kIsComplex, std::complex<long double>, long double>;
  static Matrix<L> Widened(const M& m) {
    Matrix<L> wide(m.rows, m.columns);
    for (size_t i = 0; i < m.values.size(); ++i) wide.values[i] = static_cast<L>(m.values[i]);
    return wide;
  }
  static std::vector<S> Narrowed(const std::vector<L>& wide) {
    std::vector<S> values;
    for (const L& x : wide) values.push_back(static_cast<S>(x));
    return values;
  }

  void Lu() const {
    M a = ReadFirst();
    const int64_t origin = Has(kLapackExpander) ? 0 : 1;
    std::vector<int64_t> pivots, order(a.rows);
    const int64_t info = blocked_.Lu(a.values.data(), a.rows, a.columns, pivots);
    std::iota(order.begin(), order.end(), 0);
    for (size_t k = 0; k < pivots.size(); ++k) std::swap(order[k], order[pivots[k]]);
    for (int64_t& pivot : pivots) pivot += origin;
    Write(0, a.values);
    WriteIntegers(1, pivots);
    WriteIntegers(2, Has(kLapackExpander) ? order : std::vector<int64_t>{info});
  }

  void Cholesky() const {
    const bool lower = Has(kLapackLower);
    M a = lower ? ReadFirst() : Adjoint(ReadFirst());
    const int64_t info = blocked_.Cholesky(a.values.data(), a.rows);
    if (!lower) a = Adjoint(a);
    // Cleared last: the conjugates of zeros have negative zeros.
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = i + 1; j < a.columns; ++j) (lower ? a(i, j) : a(j, i)) = S(0);
    if (info != 0) {
      std::fill(a.values.begin(), a.values.end(), S(std::numeric_limits<double>::quiet_NaN()));
    }
    Write(0, a.values);
    WriteIntegers(1, {info});
  }

  void Solve() const {
    M a = ReadFirst();
    M b = Read(1, plan_.other_rows, plan_.other_columns);
    const bool left = Has(kLapackLeft);
    // From the right it is the system of the transposes.
    const bool swapped = Has(kLapackTransposed) == left;
    const bool lower = Has(kLapackLower) != swapped;
    if (Has(kLapackFactor)) {
      const S factor = static_cast<S>(*static_cast<const E*>(operands_[2]));
      for (S& x : b.values) x *= factor;
    }
    for (S& x : a.values) x = Has(kLapackConjugated) ? Conjugate(x) : x;
    if (swapped) a = Transposed(a);
    if (!left) b = Transposed(b);
    blocked_.SolveTriangular(a.values.data(), lower, Has(kLapackUnitDiagonal), b.values.data(),
                             b.rows, b.columns);
    Write(0, left ? b.values : Transposed(b).values);
  }

  void Qr() const {
    M a = ReadFirst();
    std::vector<S> taus;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      const auto reflector = Reflector<S>::Make(a, k, k, a.rows);
      taus.push_back(reflector.tau());
      reflector.Adjointed().FromLeft(a, k + 1);
    }
    Write(0, a.values);
    Write(1, taus);
  }

  void ReflectorProduct() const {
    const M a = ReadFirst();
    const M taus = Read(1, 1, plan_.reflectors);
    M q = Identity<S>(a.rows, a.columns);
    for (int64_t k = std::min({taus.columns, a.columns, a.rows}); k-- > 0;) {
      Reflector<S>::Of(a, k, k, taus(0, k)).FromLeft(q, 0);
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
      Reflector<S>::Of(a, k, k, of_adjoint ? Conjugate(taus(0, k)) : taus(0, k)).FromLeft(c, 0);
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
    const bool wanted = !Has(kLapackValuesOnly);
    std::vector<double> found, values(n, std::numeric_limits<double>::quiet_NaN());
    M rows(n, 0), vectors(n, n);
    const bool done = IsFinite(a) && DiagonalizeHermitian(context_, a, wanted, found, rows);
    if (!done)
      std::fill(vectors.values.begin(), vectors.values.end(), S(values.empty() ? 0 : values[0]));
    if (done) {
      const std::vector<int64_t> order = OrderOf(found, false);
      for (int64_t k = 0; k < n; ++k) {
        values[k] = found[order[k]];
        for (int64_t i = 0; i < rows.columns; ++i) vectors(i, k) = rows(order[k], i);
      }
    }
    Write(0, vectors.values);
    WriteReal(1, values);
    if (!Has(kLapackExpander)) WriteIntegers(2, {0});
  }

  // The numbers of values, ascending or descending, equal ones as they come.
  static std::vector<int64_t> OrderOf(const std::vector<double>& values, bool descending) {
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
      return descending ? values[x] > values[y] : values[x] < values[y];
    });
    return order;
  }

  void Singular() const {
    const M a = ReadFirst();
    const bool tall = a.rows >= a.columns;
    const M g = tall ? a : Adjoint(a);
    // The bases that the results have room for, or are to be zero.
    const int64_t room = tall ? plan_.reflectors : plan_.other_rows;
    std::vector<double> found;
    M left(g.rows, 0), right(g.columns, 0);
    const bool done =
        IsFinite(g) && SingularValues(context_, g, std::clamp(room, g.columns, g.rows),
                                      !Has(kLapackValuesOnly), found, left, right);
    std::vector<double> values(g.columns, std::numeric_limits<double>::quiet_NaN());
    M left_columns(g.rows, left.rows), right_columns(g.columns, g.columns);
    if (done) {
      const std::vector<int64_t> order = OrderOf(found, true);
      for (int64_t k = 0; k < g.columns; ++k) {
        values[k] = found[order[k]];
        for (int64_t i = 0; i < left.columns; ++i) left_columns(i, k) = left(order[k], i);
        for (int64_t i = 0; i < right.columns; ++i) right_columns(i, k) = right(order[k], i);
      }
      for (int64_t k = g.columns; k < left.rows; ++k)
        for (int64_t i = 0; i < left.columns; ++i) left_columns(i, k) = left(k, i);
    }
    WriteSingular(a, values, tall ? left_columns : right_columns,
                  tall ? right_columns : left_columns);
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
    Write(0, Narrowed(below.values));
    Write(1, Narrowed(diagonal.values));
    Write(2, Narrowed(above.values));
    Write(3, Narrowed(b.values));
    WriteIntegers(4, {info});
  }

  // Columns that operand 1 marks go first; then every step takes the longest of those left.
  void PivotedQr() const {
    M a = ReadFirst();
    std::vector<int64_t> order(a.columns);
    std::iota(order.begin(), order.end(), 1);
    const auto exchange = [&](int64_t j, int64_t k) {
      if (j == k) return;
      std::swap(order[j], order[k]);
      for (int64_t i = 0; i < a.rows; ++i) std::swap(a(i, j), a(i, k));
    };
    const int32_t* marks = static_cast<const int32_t*>(operands_[1]) + batch_ * a.columns;
    int64_t fixed = 0;
    for (int64_t j = 0; j < a.columns; ++j)
      if (marks[j] != 0) exchange(j, fixed++);
    std::vector<S> taus;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      if (k >= fixed) {
        std::vector<double> squares(a.columns);
        for (int64_t i = k; i < a.rows; ++i)
          for (int64_t j = k; j < a.columns; ++j) squares[j] += Squared(a(i, j));
        exchange(k, std::max_element(squares.begin() + k, squares.end()) - squares.begin());
      }
      const auto reflector = Reflector<S>::Make(a, k, k, a.rows);
      taus.push_back(reflector.tau());
      reflector.Adjointed().FromLeft(a, k + 1);
    }
    Write(0, a.values);
    WriteIntegers(1, order);
    Write(2, taus);
  }

  void Hessenberg() const {
    Matrix<L> a = Widened(ReadFirst());
    const std::vector<L> taus = ReduceToHessenberg(a, plan_.low, plan_.high);
    Write(0, Narrowed(a.values));
    Write(1, Narrowed(taus));
    WriteIntegers(2, {0});
  }

  // The form of the upper triangle is that of the lower one with rows and columns counted
  // backwards.
  void Tridiagonal() const {
    M a = ReadFirst();
    const int64_t n = a.rows;
    const auto place = [&](int64_t i) { return Has(kLapackLower) ? i : n - 1 - i; };
    M full(n, n);
    for (int64_t i = 0; i < n; ++i) {
      full(i, i) = S(Real(a(place(i), place(i))));
      for (int64_t j = 0; j < i; ++j) {
        full(i, j) = a(place(i), place(j));
        full(j, i) = Conjugate(full(i, j));
      }
    }
    const std::vector<S> taus = ReduceToHessenberg(full, 0, n);
    std::vector<double> diagonal(n), beside(taus.size());
    std::vector<S> placed_taus(taus.size());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) a(place(i), place(j)) = full(i, j);
      diagonal[place(i)] = Real(full(i, i));
      a(place(i), place(i)) = S(diagonal[place(i)]);
      if (i + 1 == n) continue;
      const int64_t at = Has(kLapackLower) ? i : n - 2 - i;
      beside[at] = Real(full(i + 1, i));
      placed_taus[at] = taus[i];
    }
    Write(0, a.values);
    WriteReal(1, diagonal);
    WriteReal(2, beside);
    Write(3, placed_taus);
    WriteIntegers(4, {0});
  }

  // Matrices that are not finite, and iterations that do not end, give NaN and a positive info.
  void GeneralEigen() const {
    M t = ReadFirst(), z(t.rows, t.rows);
    const int64_t n = t.rows;
    const Complex nan(std::numeric_limits<double>::quiet_NaN(), 0);
    const bool done = IsFinite(t) && SchurForm(t, z);
    const std::vector<Complex> none(n, nan);
    int64_t k = WriteEigenvalues(0, done ? EigenvaluesOf(t) : none);
    for (const LapackForm side : {kLapackLeftVectors, kLapackRightVectors}) {
      Matrix<Complex> vectors(n, n);
      if (!done) std::fill(vectors.values.begin(), vectors.values.end(), nan);
      if (done && Has(side)) vectors = EigenvectorsOf(t, z, side == kLapackLeftVectors);
      WriteComplex(k++, vectors.values);
    }
    WriteIntegers(k, {done ? 0 : n});
  }

  void Schur() const {
    M t = ReadFirst(), z(t.rows, t.rows);
    const int64_t n = t.rows;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const bool done = IsFinite(t) && SchurForm(t, z);
    if (!done) {
      std::fill(t.values.begin(), t.values.end(), S(nan));
      std::fill(z.values.begin(), z.values.end(), S(nan));
    }
    Write(0, t.values);
    Write(1, z.values);
    const std::vector<Complex> none(n, Complex(nan));
    const int64_t k = WriteEigenvalues(2, done ? EigenvaluesOf(t) : none);
    WriteIntegers(k, {0});
    WriteIntegers(k + 1, {done ? 0 : n});
  }

  RunContext& context_;
  Blocked<S> blocked_;
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

void RunLapack(RunContext* context, const LapackPlan* plan, const void* const* operands,
               void* const* results) {
  switch (static_cast<ElementType>(plan->type)) {
    case ElementType::kF32:
      return Lapack<float>(*context, *plan, operands, results).Run();
    case ElementType::kF64:
      return Lapack<double>(*context, *plan, operands, results).Run();
    case ElementType::kC64:
      return Lapack<std::complex<float>>(*context, *plan, operands, results).Run();
    default:
      return Lapack<std::complex<double>>(*context, *plan, operands, results).Run();
  }
}

}  // namespace assay
