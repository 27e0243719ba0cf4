// Factors put together again give the matrix that they are of.
#include "optimized/runtime/linear_algebra/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "optimized/runtime/linear_algebra/schur.h"
#include "optimized/runtime/run_context.h"

namespace assay {
namespace {

template <typename E>
struct RealOf {
  using Type = E;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using Type = T;
};

template <typename E>
E Conjugate(E x) {
  if constexpr (std::is_floating_point_v<E>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <typename E>
class Lapack : public testing::Test {
 protected:
  using T = typename RealOf<E>::Type;
  using M = std::vector<std::vector<E>>;

  static ElementType Type() {
    if (std::is_same_v<E, float>) return ElementType::kF32;
    if (std::is_same_v<E, double>) return ElementType::kF64;
    return std::is_same_v<T, float> ? ElementType::kC64 : ElementType::kC128;
  }

  E Next() {
    const auto draw = [&] {
      seed_ = seed_ * 1664525 + 1013904223;
      return static_cast<T>(static_cast<int32_t>(seed_ >> 16) % 1000) / 500 - 1;
    };
    if constexpr (std::is_floating_point_v<E>) {
      return draw();
    } else {
      const T real = draw();
      return E(real, draw());
    }
  }

  std::vector<E> Random(int64_t count) {
    std::vector<E> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(Next());
    return values;
  }

  static M Of(const std::vector<E>& values, int64_t rows, int64_t columns) {
    M m(rows, std::vector<E>(columns));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) m[i][j] = values[i * columns + j];
    return m;
  }
  static M Adjoint(const M& m, int64_t columns) {
    M adjoint(columns, std::vector<E>(m.size()));
    for (size_t i = 0; i < m.size(); ++i)
      for (int64_t j = 0; j < columns; ++j) adjoint[j][i] = Conjugate(m[i][j]);
    return adjoint;
  }
  static M Product(const M& a, const M& b) {
    M c(a.size(), std::vector<E>(b[0].size()));
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t k = 0; k < b.size(); ++k)
        for (size_t j = 0; j < b[0].size(); ++j) c[i][j] += a[i][k] * b[k][j];
    return c;
  }
  static void ExpectNear(const M& a, const M& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t j = 0; j < a[i].size(); ++j)
        EXPECT_LE(std::abs(a[i][j] - b[i][j]), 200 * std::numeric_limits<T>::epsilon())
            << i << " " << j;
  }
  static void ExpectUnitary(const M& q, int64_t columns) {
    M one(columns, std::vector<E>(columns));
    for (int64_t i = 0; i < columns; ++i) one[i][i] = E(1);
    ExpectNear(Product(Adjoint(q, columns), q), one);
  }

  static LapackPlan Plan(LapackRoutine routine, int64_t rows, int64_t columns) {
    LapackPlan plan;
    plan.routine = static_cast<int64_t>(routine);
    plan.type = static_cast<int64_t>(Type());
    plan.rows = rows;
    plan.columns = columns;
    return plan;
  }
  static void Run(const LapackPlan& plan, const std::vector<const void*>& operands,
                  const std::vector<void*>& results) {
    RunContext context;
    RunLapack(&context, &plan, operands.data(), results.data());
  }

 private:
  uint32_t seed_ = 12345;
};

using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Lapack, Types);

TYPED_TEST(Lapack, LuIsOfThePermutedRows) {
  using E = TypeParam;
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{5, 5}, {7, 3}, {3, 6}}) {
    const int64_t k = std::min(m, n);
    const std::vector<E> a = this->Random(m * n);
    std::vector<E> lu(m * n);
    std::vector<int32_t> pivots(k), info(1, -1);
    this->Run(this->Plan(LapackRoutine::kLu, m, n), {a.data()},
              {lu.data(), pivots.data(), info.data()});
    EXPECT_EQ(info[0], 0);
    auto rows = this->Of(a, m, n);
    for (int64_t i = 0; i < k; ++i) std::swap(rows[i], rows[pivots[i] - 1]);
    auto l = this->Of(std::vector<E>(m * k), m, k), u = this->Of(std::vector<E>(k * n), k, n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j) l[i][j] = i == j ? E(1) : i > j ? lu[i * n + j] : E(0);
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = i; j < n; ++j) u[i][j] = lu[i * n + j];
    this->ExpectNear(this->Product(l, u), rows);
  }
}

TYPED_TEST(Lapack, QrIsAProductOfReflectors) {
  using E = TypeParam;
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{6, 4}, {5, 5}, {4, 6}}) {
    const int64_t k = std::min(m, n);
    const std::vector<E> a = this->Random(m * n);
    std::vector<E> r(m * n), tau(k), q(m * k), first(m * k), product(m * n);
    this->Run(this->Plan(LapackRoutine::kQr, m, n), {a.data()}, {r.data(), tau.data()});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j) first[i * k + j] = r[i * n + j];
    LapackPlan plan = this->Plan(LapackRoutine::kReflectorProduct, m, k);
    plan.reflectors = k;
    this->Run(plan, {first.data(), tau.data()}, {q.data()});
    auto upper = this->Of(r, m, n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < std::min(i, n); ++j) upper[i][j] = E(0);
    const auto factor = this->Of(q, m, k);
    this->ExpectUnitary(factor, k);
    auto top = upper;
    top.resize(k);
    this->ExpectNear(this->Product(factor, top), this->Of(a, m, n));
    // Products with q on either side must give the same.
    for (const bool left : {true, false}) {
      LapackPlan reflect = this->Plan(LapackRoutine::kReflect, m, k);
      reflect.reflectors = k;
      reflect.other_rows = left ? m : n;
      reflect.other_columns = left ? n : m;
      // q r, or rᴴ qᴴ.
      reflect.form = left ? int64_t{kLapackLeft} : int64_t{kLapackTransposed};
      std::vector<E> c;
      const auto other = left ? upper : this->Adjoint(upper, n);
      for (const auto& row : other) c.insert(c.end(), row.begin(), row.end());
      this->Run(reflect, {first.data(), tau.data(), c.data()}, {product.data()});
      const auto got = this->Of(product, reflect.other_rows, reflect.other_columns);
      this->ExpectNear(left ? got : this->Adjoint(got, m), this->Of(a, m, n));
    }
  }
}

TYPED_TEST(Lapack, QrOfNumbersWhoseSquaresLeaveTheRange) {
  using E = TypeParam;
  using T = typename TestFixture::T;
  for (const T size : {std::numeric_limits<T>::max() / 4, std::numeric_limits<T>::min()}) {
    const std::vector<E> a(3, E(size));
    std::vector<E> packed(3), tau(1);
    this->Run(this->Plan(LapackRoutine::kQr, 3, 1), {a.data()}, {packed.data(), tau.data()});
    const T norm = std::sqrt(T(3));
    EXPECT_NEAR(std::abs(packed[0]) / size, norm, 10 * std::numeric_limits<T>::epsilon());
    EXPECT_NEAR(std::abs(tau[0]), 1 + 1 / norm, 10 * std::numeric_limits<T>::epsilon());
    EXPECT_NEAR(std::abs(packed[2]), 1 / (1 + norm), 10 * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(Lapack, TheTriangleBesideAFactorIsOfPositiveZeros) {
  using E = TypeParam;
  const std::vector<E> a = {E(4), E(0), E(0), E(4)};
  for (const int64_t form : {int64_t{0}, int64_t{kLapackLower}}) {
    LapackPlan plan = this->Plan(LapackRoutine::kCholesky, 2, 2);
    plan.form = form;
    std::vector<E> factor(4, E(7));
    int32_t info = 0;
    this->Run(plan, {a.data()}, {factor.data(), &info});
    const E beside = factor[form == 0 ? 2 : 1];
    EXPECT_EQ(beside, E(0));
    EXPECT_FALSE(std::signbit(std::real(beside)));
    EXPECT_FALSE(std::signbit(std::imag(beside)));
  }
}

TYPED_TEST(Lapack, EigenvectorsAndSingularVectorsDiagonalize) {
  using E = TypeParam;
  using T = typename TestFixture::T;
  constexpr int64_t kOrder = 6;
  std::vector<E> a = this->Random(kOrder * kOrder), vectors(kOrder * kOrder);
  std::vector<T> values(kOrder);
  std::vector<int32_t> info(1, -1);
  LapackPlan plan = this->Plan(LapackRoutine::kHermitianEigen, kOrder, kOrder);
  plan.form = kLapackLower;
  this->Run(plan, {a.data()}, {vectors.data(), values.data(), info.data()});
  for (int64_t i = 0; i < kOrder; ++i) {
    a[i * kOrder + i] = E(std::real(a[i * kOrder + i]));
    for (int64_t j = 0; j < i; ++j) a[j * kOrder + i] = Conjugate(a[i * kOrder + j]);
  }
  const auto v = this->Of(vectors, kOrder, kOrder);
  this->ExpectUnitary(v, kOrder);
  auto scaled = v;
  for (auto& row : scaled)
    for (int64_t j = 0; j < kOrder; ++j) row[j] *= values[j];
  this->ExpectNear(this->Product(this->Of(a, kOrder, kOrder), v), scaled);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));

  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{7, 4}, {4, 7}, {5, 5}}) {
    const int64_t k = std::min(m, n);
    std::vector<E> b = this->Random(m * n), same(m * n), u(m * m), vt(n * n);
    // The last two columns are equal: the rank is one less.
    for (int64_t i = 0; i < m; ++i) b[i * n + n - 1] = b[i * n + n - 2];
    std::vector<T> sizes(k);
    LapackPlan full = this->Plan(LapackRoutine::kSingular, m, n);
    full.reflectors = m;
    full.other_rows = n;
    this->Run(full, {b.data()}, {same.data(), sizes.data(), u.data(), vt.data(), info.data()});
    auto left = this->Of(u, m, m);
    this->ExpectUnitary(left, m);
    this->ExpectUnitary(this->Adjoint(this->Of(vt, n, n), n), n);
    for (auto& row : left) {
      for (int64_t j = 0; j < k; ++j) row[j] *= sizes[j];
      row.resize(k);
    }
    auto right = this->Of(vt, n, n);
    right.resize(k);
    this->ExpectNear(this->Product(left, right), this->Of(b, m, n));
    EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  }
}

TYPED_TEST(Lapack, SystemsAreSolved) {
  using E = TypeParam;
  constexpr int64_t kOrder = 4, kSides = 3;
  std::vector<E> a = this->Random(kOrder * kOrder);
  for (int64_t i = 0; i < kOrder; ++i) a[i * kOrder + i] += E(4);
  const std::vector<E> b = this->Random(kOrder * kSides);
  for (int64_t form = 0; form < 32; ++form) {
    if ((form & kLapackConjugated) != 0 && (form & kLapackTransposed) == 0) continue;
    const bool left = (form & kLapackLeft) != 0, lower = (form & kLapackLower) != 0;
    LapackPlan plan = this->Plan(LapackRoutine::kSolve, kOrder, kOrder);
    plan.form = form;
    plan.other_rows = left ? kOrder : kSides;
    plan.other_columns = left ? kSides : kOrder;
    std::vector<E> x(b.size());
    this->Run(plan, {a.data(), b.data()}, {x.data()});
    auto triangle = this->Of(a, kOrder, kOrder);
    for (int64_t i = 0; i < kOrder; ++i)
      for (int64_t j = 0; j < kOrder; ++j) {
        if (i != j && (i > j) != lower) triangle[i][j] = E(0);
        if (i == j && (form & kLapackUnitDiagonal) != 0) triangle[i][j] = E(1);
      }
    if ((form & kLapackTransposed) != 0) {
      triangle = this->Adjoint(triangle, kOrder);
      for (auto& row : triangle)
        for (E& value : row) value = (form & kLapackConjugated) != 0 ? value : Conjugate(value);
    }
    const auto solution = this->Of(x, plan.other_rows, plan.other_columns);
    this->ExpectNear(left ? this->Product(triangle, solution) : this->Product(solution, triangle),
                     this->Of(b, plan.other_rows, plan.other_columns));
  }
}

TYPED_TEST(Lapack, CholeskyAndTridiagonalSystems) {
  using E = TypeParam;
  constexpr int64_t kOrder = 5;
  const auto g = this->Of(this->Random(kOrder * kOrder), kOrder, kOrder);
  auto spd = this->Product(g, this->Adjoint(g, kOrder));
  for (int64_t i = 0; i < kOrder; ++i) spd[i][i] = E(std::real(spd[i][i]) + 1);
  std::vector<E> a, factor(kOrder * kOrder);
  for (const auto& row : spd) a.insert(a.end(), row.begin(), row.end());
  std::vector<int32_t> info(1, -1);
  for (const bool lower : {true, false}) {
    LapackPlan plan = this->Plan(LapackRoutine::kCholesky, kOrder, kOrder);
    plan.form = lower ? int64_t{kLapackLower} : 0;
    this->Run(plan, {a.data()}, {factor.data(), info.data()});
    const auto l = this->Of(factor, kOrder, kOrder), adjoint = this->Adjoint(l, kOrder);
    this->ExpectNear(lower ? this->Product(l, adjoint) : this->Product(adjoint, l), spd);
  }
  std::vector<E> below = this->Random(kOrder), diagonal = this->Random(kOrder),
                 above = this->Random(kOrder), b = this->Random(kOrder), x(kOrder), spare(kOrder);
  // Pivots are exchanged where the diagonal is small.
  diagonal[1] = E(0);
  for (int64_t i = 1; i < kOrder; ++i) below[i] += E(3);
  LapackPlan plan = this->Plan(LapackRoutine::kTridiagonalSolve, kOrder, kOrder);
  plan.other_rows = 1;
  std::vector<E> first = spare, second = spare;
  this->Run(plan, {below.data(), diagonal.data(), above.data(), b.data()},
            {spare.data(), first.data(), second.data(), x.data(), info.data()});
  auto band = this->Of(std::vector<E>(kOrder * kOrder), kOrder, kOrder);
  for (int64_t i = 0; i < kOrder; ++i) {
    band[i][i] = diagonal[i];
    if (i > 0) band[i][i - 1] = below[i];
    if (i + 1 < kOrder) band[i][i + 1] = above[i];
  }
  this->ExpectNear(this->Product(band, this->Of(x, kOrder, 1)), this->Of(b, kOrder, 1));
}

// The product of the reflectors in the columns of a, each beginning `below` rows below the
// diagonal.
template <typename E>
std::vector<std::vector<E>> ProductOfReflectors(const std::vector<std::vector<E>>& a,
                                                const std::vector<E>& taus, size_t below) {
  const size_t n = a.size();
  std::vector<std::vector<E>> q(n, std::vector<E>(n));
  for (size_t i = 0; i < n; ++i) q[i][i] = E(1);
  for (size_t k = taus.size(); k-- > 0;) {
    std::vector<E> v(n);
    for (size_t i = k + below; i < n; ++i) v[i] = i == k + below ? E(1) : a[i][k];
    for (size_t j = 0; j < n; ++j) {
      E sum(0);
      for (size_t i = 0; i < n; ++i) sum += Conjugate(v[i]) * q[i][j];
      for (size_t i = 0; i < n; ++i) q[i][j] -= taus[k] * sum * v[i];
    }
  }
  return q;
}

TYPED_TEST(Lapack, HessenbergAndTridiagonalFormsAreSimilar) {
  using E = TypeParam;
  using T = typename TestFixture::T;
  constexpr int64_t kOrder = 6;
  const std::vector<E> a = this->Random(kOrder * kOrder);
  std::vector<E> form(a.size()), taus(kOrder - 1);
  std::vector<int32_t> info(1, -1);
  LapackPlan plan = this->Plan(LapackRoutine::kHessenberg, kOrder, kOrder);
  plan.high = kOrder;
  this->Run(plan, {a.data()}, {form.data(), taus.data(), info.data()});
  auto h = this->Of(form, kOrder, kOrder);
  const auto q = ProductOfReflectors(h, taus, 1);
  for (int64_t i = 2; i < kOrder; ++i)
    for (int64_t j = 0; j + 1 < i; ++j) h[i][j] = E(0);
  this->ExpectUnitary(q, kOrder);
  this->ExpectNear(this->Product(q, this->Product(h, this->Adjoint(q, kOrder))),
                   this->Of(a, kOrder, kOrder));

  for (const bool lower : {true, false}) {
    LapackPlan symmetric = this->Plan(LapackRoutine::kTridiagonal, kOrder, kOrder);
    symmetric.form = lower ? int64_t{kLapackLower} : 0;
    std::vector<T> diagonal(kOrder), beside(kOrder - 1);
    this->Run(symmetric, {a.data()},
              {form.data(), diagonal.data(), beside.data(), taus.data(), info.data()});
    // The upper triangle is that of the matrix counted backwards.
    const auto place = [&](int64_t i) { return lower ? i : kOrder - 1 - i; };
    auto whole = this->Of(a, kOrder, kOrder), packed = whole, band = whole;
    std::vector<E> placed_taus = taus;
    for (int64_t i = 0; i < kOrder; ++i) {
      for (int64_t j = 0; j < kOrder; ++j) {
        const E below = a[place(i) * kOrder + place(j)], above = a[place(j) * kOrder + place(i)];
        whole[i][j] = i == j ? E(std::real(below)) : i > j ? below : Conjugate(above);
        packed[i][j] = form[place(i) * kOrder + place(j)];
        const int64_t least = std::min(place(i), place(j));
        band[i][j] = i == j                     ? E(diagonal[place(i)])
                     : i - j == 1 || j - i == 1 ? E(beside[least])
                                                : E(0);
      }
      if (i + 1 < kOrder) placed_taus[i] = taus[lower ? i : kOrder - 2 - i];
    }
    const auto z = ProductOfReflectors(packed, placed_taus, 1);
    this->ExpectNear(this->Product(z, this->Product(band, this->Adjoint(z, kOrder))), whole);
  }
}

TYPED_TEST(Lapack, PivotedQrTakesMarkedColumnsFirst) {
  using E = TypeParam;
  constexpr int64_t kRows = 5, kColumns = 4;
  const std::vector<E> a = this->Random(kRows * kColumns);
  std::vector<E> form(a.size()), taus(kColumns);
  std::vector<int32_t> marks = {0, 0, 1, 0}, order(kColumns);
  this->Run(this->Plan(LapackRoutine::kPivotedQr, kRows, kColumns), {a.data(), marks.data()},
            {form.data(), order.data(), taus.data()});
  EXPECT_EQ(order[0], 3);
  auto r = this->Of(form, kRows, kColumns);
  const auto q = ProductOfReflectors(r, taus, 0);
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < std::min(i, kColumns); ++j) r[i][j] = E(0);
  auto permuted = this->Of(a, kRows, kColumns);
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) permuted[i][j] = a[i * kColumns + order[j] - 1];
  this->ExpectNear(this->Product(q, r), permuted);
  EXPECT_GE(std::abs(r[1][1]), std::abs(r[2][2]));
  EXPECT_GE(std::abs(r[2][2]), std::abs(r[3][3]));
}

TYPED_TEST(Lapack, SchurFormIsSimilarAndQuasiTriangular) {
  using E = TypeParam;
  using T = typename TestFixture::T;
  constexpr bool kIsReal = std::is_floating_point_v<E>;
  for (const int64_t n : {1, 2, 3, 4, 7, 20}) {
    std::vector<E> a = this->Random(n * n);
    for (E& x : a) x /= static_cast<T>(n);
    std::vector<E> form(a.size()), vectors(a.size()), values(n);
    std::vector<T> imaginary(n);
    std::vector<int32_t> selected(1, -1), info(1, -1);
    const LapackPlan plan = this->Plan(LapackRoutine::kSchur, n, n);
    std::vector<void*> results = {form.data(), vectors.data(), values.data()};
    if (kIsReal) results.push_back(imaginary.data());
    results.push_back(selected.data());
    results.push_back(info.data());
    this->Run(plan, {a.data()}, results);
    EXPECT_EQ(info[0], 0);
    const auto t = this->Of(form, n, n), z = this->Of(vectors, n, n);
    this->ExpectUnitary(z, n);
    this->ExpectNear(this->Product(z, this->Product(t, this->Adjoint(z, n))), this->Of(a, n, n));
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(std::real(values[i]), std::real(t[i][i]));
      for (int64_t j = 0; j < i; ++j) {
        if (t[i][j] == E(0)) continue;
        EXPECT_TRUE(kIsReal && j + 1 == i) << i << " " << j;
        EXPECT_EQ(t[i][i], t[j][j]);
        EXPECT_GT(imaginary[j], 0);
        EXPECT_EQ(imaginary[i], -imaginary[j]);
      }
    }
  }
}

// Whole numbers make eigenvalues that are double, or pairs of either sign, where one shift helps
// and two do not. The first matrix has all of that.
TEST(Schur, EndsForMatricesOfFewWholeNumbers) {
  using linear_algebra::Matrix;
  Matrix<double> form(4, 4), basis(4, 4);
  form.values = {-1, -1, 0, 0, 1, 1, -1, 1, 0, 0, 0, 1, 0, 4, 0, 0};
  EXPECT_TRUE(linear_algebra::SchurForm(form, basis));
  std::mt19937 random(5);
  for (const int64_t n : {3, 4, 5, 6, 8}) {
    int failed = 0;
    for (int i = 0; i < 20000; ++i) {
      Matrix<double> some(n, n), turned(n, n);
      for (double& x : some.values) x = static_cast<double>(random() % 3) - 1;
      if (!linear_algebra::SchurForm(some, turned)) ++failed;
    }
    EXPECT_EQ(failed, 0) << n;
  }
}

TYPED_TEST(Lapack, EigenvectorsOfGeneralMatrices) {
  using E = TypeParam;
  using T = typename TestFixture::T;
  using C = std::complex<T>;
  constexpr bool kIsReal = std::is_floating_point_v<E>;
  constexpr int64_t kOrder = 5;
  const std::vector<E> a = this->Random(kOrder * kOrder);
  std::vector<E> values(kOrder);
  std::vector<T> imaginary(kOrder);
  std::vector<C> left(a.size()), right(a.size());
  std::vector<int32_t> info(1, -1);
  LapackPlan plan = this->Plan(LapackRoutine::kGeneralEigen, kOrder, kOrder);
  plan.form = kLapackLeftVectors | kLapackRightVectors;
  std::vector<void*> results = {values.data()};
  if (kIsReal) results.push_back(imaginary.data());
  results.insert(results.end(), {left.data(), right.data(), info.data()});
  this->Run(plan, {a.data()}, results);
  EXPECT_EQ(info[0], 0);
  for (int64_t k = 0; k < kOrder; ++k) {
    const C w = kIsReal ? C(std::real(values[k]), imaginary[k]) : C(values[k]);
    T squares = 0;
    for (int64_t i = 0; i < kOrder; ++i) {
      C image = 0, other = 0;
      for (int64_t j = 0; j < kOrder; ++j) {
        image += C(a[i * kOrder + j]) * right[j * kOrder + k];
        other += std::conj(C(a[j * kOrder + i])) * left[j * kOrder + k];
      }
      const T slack = 200 * std::numeric_limits<T>::epsilon();
      EXPECT_LE(std::abs(image - w * right[i * kOrder + k]), slack);
      EXPECT_LE(std::abs(other - std::conj(w) * left[i * kOrder + k]), slack);
      squares += std::norm(right[i * kOrder + k]);
    }
    EXPECT_LE(std::abs(squares - 1), 50 * std::numeric_limits<T>::epsilon());
  }
}

}  // namespace
}  // namespace assay
