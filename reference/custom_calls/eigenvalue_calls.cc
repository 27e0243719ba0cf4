// Eigenvalues of Hermitian matrices and singular values, as LAPACK's routines have them, by
// Jacobi's rotations. The values are unique, and by Weyl's theorem off by no more than the norm of
// the residual; vectors are unique up to their phase at best.
#include <algorithm>
#include <numeric>

#include "reference/custom_calls/call_options.h"
#include "reference/custom_calls/matrix_ops.h"
#include "spec/base/status_macros.h"

namespace assay::reference {
namespace {

// The positions of the results of a Hermitian eigenvalue problem; XLA's Eigh has no info.
enum HermitianResult : int64_t { kEigenvectors, kEigenvalues, kHermitianInfo };
// The positions of the results of a singular value decomposition.
enum SingularResult : int64_t {
  kOverwritten,
  kSingularValues,
  kLeftVectors,
  kRightVectors,
  kSingularInfo
};
// The parts of the property of singular vectors.
enum SingularPart : int64_t { kLeftPart, kRightPart };

// Rotations of rows and columns go on until |a(p, q)| <= c sqrt(|a(p, p) a(q, q)|) for all pairs,
// the stopping test of Demmel and Veselic (Jacobi's method is more accurate than QR, SIAM J. Matrix
// Anal. Appl. 13, 1992). c is this part of epsilon of the wide type: what is left is far below the
// radius that ValueRadius gives to eigenvalues.
constexpr double kJacobiStop = 0.25;

// a becomes diagonal, the columns of v its eigenvectors.
template <typename S>
void DiagonalizeHermitian(Matrix<S>& a, Matrix<S>& v) {
  using W = decltype(std::abs(S()));
  const int64_t n = a.rows;
  v = Identity<S>(n);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const W scale = std::sqrt(std::abs(a(p, p)) * std::abs(a(q, q)));
        if (!(std::abs(a(p, q)) > scale * std::numeric_limits<W>::epsilon() * W{kJacobiStop}) ||
            std::abs(a(p, q)) < std::numeric_limits<W>::min())
          continue;
        const Rotation<S> rotation(RealPart(a(p, p)), RealPart(a(q, q)), a(p, q));
        rotation.Columns(a, p, q);
        rotation.Rows(a, p, q);
        rotation.Columns(v, p, q);
        a(p, q) = a(q, p) = S{};
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

// Takes what columns 0 to j - 1, which are orthonormal, have in common with column j out of it,
// twice, since rounding leaves a part of it the first time. Returns the squared length of the rest.
template <typename S>
auto Orthogonalize(Matrix<S>& matrix, int64_t j) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t k = 0; k < j; ++k) {
      S inner{};
      for (int64_t i = 0; i < matrix.rows; ++i) inner += Conjugate(matrix(i, k)) * matrix(i, j);
      for (int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) -= inner * matrix(i, k);
    }
  }
  decltype(std::abs(S())) squares = 0;
  for (int64_t i = 0; i < matrix.rows; ++i)
    squares += RealPart(matrix(i, j) * Conjugate(matrix(i, j)));
  return squares;
}

// Replaces the columns of m from `from` on by vectors of length one that are orthogonal to all
// before them.
template <typename S>
void CompleteBasis(Matrix<S>& matrix, int64_t from) {
  using W = decltype(std::abs(S()));
  int64_t candidate = 0;
  for (int64_t j = from; j < matrix.columns && candidate < matrix.rows; ++candidate) {
    for (int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) = i == candidate ? S(1) : S{};
    const W squares = Orthogonalize(matrix, j);
    if (squares < W{kLeastOrthogonalPart} / static_cast<W>(matrix.rows)) continue;
    for (int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) /= std::sqrt(squares);
    ++j;
  }
}

// The columns of m multiplied by `values`; columns for which there is no value become zero.
template <typename S, typename W>
Matrix<S> Scaled(Matrix<S> m, const std::vector<W>& values) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j)
      m(i, j) *= j < static_cast<int64_t>(values.size()) ? values[j] : W{0};
  return m;
}

// The first columns of m.
template <typename S>
Matrix<S> FirstColumns(const Matrix<S>& matrix, int64_t columns) {
  Matrix<S> first(matrix.rows, columns);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < columns; ++j) first(i, j) = matrix(i, j);
  return first;
}

// The property of eigenvectors v, its only part, given the matrix and its eigenvalues, which are
// off by half of `residual`.
template <typename E, typename S, typename W>
std::shared_ptr<const Property> EigenvectorProperty(ElementType type, Matrix<S> a,
                                                    std::vector<W> values, W residual) {
  auto property = std::make_shared<Property>();
  property->what = "a v = v w and vᴴ v = 1";
  property->parts = {Shape::Array(type, {a.rows, a.rows})};
  property->violation = [a = std::move(a), values = std::move(values), residual](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>&) -> std::string {
    const Matrix<S> v = MatrixOf<E>(parts[0]);
    if (!IsOrthonormal(v, OrthonormalSlack<E>(a.rows)))
      return "the eigenvectors are not orthonormal";
    if (!IsNear(Product(a, v), Scaled(v, values), residual)) return "a v is not v w";
    return "";
  };
  return property;
}

// The property of singular vectors u and vᴴ, given the matrix and its singular values, which are
// off by half of `residual`.
template <typename E, typename S, typename W>
std::shared_ptr<const Property> SingularVectorProperty(const Shape& u_shape, const Shape& v_shape,
                                                       Matrix<S> a, std::vector<W> values,
                                                       W residual) {
  auto property = std::make_shared<Property>();
  property->what = "a = u s vᴴ, uᴴ u = 1 and vᴴ v = 1";
  property->parts = {u_shape, v_shape};
  property->violation = [a = std::move(a), values = std::move(values), residual](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>& present) -> std::string {
    const auto rank = static_cast<int64_t>(values.size());
    const W unit = MatrixCall<E>::Residual(8 * (a.rows + a.columns));
    const Matrix<S> u = MatrixOf<E>(parts[kLeftPart]), v = Adjoint(MatrixOf<E>(parts[kRightPart]));
    if (present[kLeftPart] && !IsOrthonormal(u, unit))
      return "the left singular vectors are not orthonormal";
    if (present[kRightPart] && !IsOrthonormal(v, unit))
      return "the right singular vectors are not orthonormal";
    const Matrix<S> us = Scaled(FirstColumns(u, rank), values);
    const Matrix<S> vs = Scaled(FirstColumns(v, rank), values);
    if (present[kLeftPart] && present[kRightPart])
      return IsNear(Product(us, Adjoint(FirstColumns(v, rank))), a, residual) ? ""
                                                                              : "u s vᴴ is not a";
    // If only one side comes out of the program: a aᴴ u = u s², aᴴ a v = v s².
    W largest = 0;
    for (W value : values) largest = std::max(largest, value);
    const Matrix<S> adjoint = Adjoint(a);
    if (present[kLeftPart] && !IsNear(Product(a, Product(adjoint, FirstColumns(u, rank))),
                                      Scaled(us, values), 2 * residual * largest))
      return "a aᴴ u is not u s²";
    if (present[kRightPart] && !IsNear(Product(adjoint, Product(a, FirstColumns(v, rank))),
                                       Scaled(vs, values), 2 * residual * largest))
      return "aᴴ a v is not v s²";
    return "";
  };
  return property;
}

// The numbers from 0 to n in the order of `less`, equals as they come.
template <typename Less>
std::vector<int64_t> OrderOf(int64_t n, Less less) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

// (a) -> (eigenvectors, eigenvalues ascending, and LAPACK's info), a given by one of its triangles.
struct HermitianCall {
  bool lower;    // the triangle that is read
  bool vectors;  // eigenvectors are asked for

  template <typename E>
  void operator()(MatrixCall<E> call) const {
    using S = typename MatrixCall<E>::S;
    using W = typename MatrixCall<E>::W;
    const auto numbers = Read(call);
    const int64_t n = numbers.rows;
    const Matrix<S> matrix = Centres<S>(numbers);
    if (!IsFinite(matrix)) {
      for (int64_t i = 0; i < n; ++i)
        call.SetReal(kEigenvalues, i, {std::numeric_limits<W>::quiet_NaN(), 0});
      return call.UndecideAll();
    }
    if (call.results.bounds && !AreKnown(numbers)) return call.UndecideAll();
    Matrix<S> a = matrix, v(n, n);
    DiagonalizeHermitian(a, v);
    const std::vector<int64_t> order =
        OrderOf(n, [&](int64_t x, int64_t y) { return RealPart(a(x, x)) < RealPart(a(y, y)); });
    const W radius = ValueRadius(call, numbers);
    std::vector<W> values;
    for (int64_t k = 0; k < n; ++k) {
      values.push_back(RealPart(a(order[k], order[k])));
      call.SetReal(kEigenvalues, k, {values.back(), radius});
      for (int64_t i = 0; i < n; ++i) call.Set(kEigenvectors, i * n + k, {v(i, order[k]), 0});
    }
    if (vectors && call.results.bounds) {
      const ElementType type = call.results.ShapeOf(kEigenvectors).element_type();
      call.JudgeByProperty(kEigenvectors,
                           EigenvectorProperty<E, S, W>(type, matrix, std::move(values),
                                                        2 * radius + LostNearZero(call, numbers)),
                           0);
    } else {
      call.Undecide(kEigenvectors);
    }
    if (call.results.arrays.size() > kHermitianInfo) call.SetInteger(kHermitianInfo, 0, 0);
  }

 private:
  // The whole matrix, its other triangle made from the one that is read.
  template <typename E>
  typename MatrixCall<E>::NumberMatrix Read(const MatrixCall<E>& call) const {
    using S = typename MatrixCall<E>::S;
    auto numbers = call.Read(0, MatrixCall<E>::ResidualSize::kByNorm);
    for (int64_t i = 0; i < numbers.rows; ++i) {
      numbers(i, i).centre = S(RealPart(numbers(i, i).centre));
      for (int64_t j = 0; j < i; ++j) {
        if (lower) numbers(j, i) = Conjugate(numbers(i, j));
        if (!lower) numbers(i, j) = Conjugate(numbers(j, i));
      }
    }
    return numbers;
  }
};

absl::StatusOr<Value> ApplySyevd(Interpreter& interpreter, const OpContext& op) {
  return ForEachMatrix(
      interpreter, op, 2,
      HermitianCall{.lower = HasOption(op, "uplo", 'L'), .vectors = HasOption(op, "mode", 'V')});
}

// XLA's expander: the first character of the configuration says whether the lower triangle is read.
absl::StatusOr<Value> ApplyEigh(Interpreter& interpreter, const OpContext& op) {
  const std::string& config = op.instruction.attributes().String(Attr::kBackendConfig);
  ASSAY_ASSIGN_OR_RETURN(
      Value value,
      ForEachMatrix(interpreter, op, 2,
                    HermitianCall{.lower = config.empty() || config[0] == '1', .vectors = true}));
  // The third character says whether the eigenvalues are sorted.
  // UNSPECIFIED(operation semantics 14, CustomCall): the order of eigenvalues that are not.
  const bool sorted = config.size() < 3 || config[2] != '0';
  if (sorted || !interpreter.bounding()) return value;
  return Undecided(value, interpreter.memory());
}

// A matrix with at least as many rows as columns as left s rightᴴ: `values` are the diagonal of s,
// descending, and `left` is square.
template <typename S>
struct SingularFactors {
  Matrix<S> left, right;
  std::vector<decltype(std::abs(S()))> values;
};

template <typename S>
SingularFactors<S> FactorTall(Matrix<S> g) {
  using W = decltype(std::abs(S()));
  const int64_t rank = g.columns;
  Matrix<S> v(rank, rank);
  OrthogonalizeColumns(g, v);
  std::vector<W> sizes(static_cast<size_t>(rank));
  for (int64_t j = 0; j < rank; ++j) {
    for (int64_t i = 0; i < g.rows; ++i) sizes[j] += RealPart(g(i, j) * Conjugate(g(i, j)));
    sizes[j] = std::sqrt(sizes[j]);
  }
  const std::vector<int64_t> order =
      OrderOf(rank, [&](int64_t x, int64_t y) { return sizes[x] > sizes[y]; });
  SingularFactors<S> factors{Matrix<S>(g.rows, g.rows), Matrix<S>(rank, rank), {}};
  int64_t found = 0;
  for (int64_t k = 0; k < rank; ++k) {
    const int64_t from = order[k];
    factors.values.push_back(sizes[from]);
    for (int64_t i = 0; i < rank; ++i) factors.right(i, k) = v(i, from);
    // Columns whose length is what rounding leaves of the larger ones are not orthogonal to these,
    // and neither is anything that belongs to smaller values.
    if (found < k || sizes[from] == 0) continue;
    for (int64_t i = 0; i < g.rows; ++i) factors.left(i, k) = g(i, from) / sizes[from];
    const W squares = Orthogonalize(factors.left, k);
    if (!(squares > W{0.5})) continue;
    for (int64_t i = 0; i < g.rows; ++i) factors.left(i, k) /= std::sqrt(squares);
    ++found;
  }
  CompleteBasis(factors.left, found);
  return factors;
}

// (a) -> (a overwritten, singular values descending, u, vᴴ, info).
struct SingularCall {
  bool vectors;  // singular vectors are asked for

  template <typename E>
  void operator()(MatrixCall<E> call) const {
    using S = typename MatrixCall<E>::S;
    using W = typename MatrixCall<E>::W;
    const auto numbers = call.Read(0, MatrixCall<E>::ResidualSize::kByNorm);
    const Matrix<S> a = Centres<S>(numbers);
    if (!IsFinite(a)) {
      for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i)
        call.SetReal(kSingularValues, i, {std::numeric_limits<W>::quiet_NaN(), 0});
      return call.UndecideAll();
    }
    if (call.results.bounds && !AreKnown(numbers)) return call.UndecideAll();
    const bool tall = a.rows >= a.columns;
    const SingularFactors<S> factors = FactorTall(tall ? a : Adjoint(a));
    const W radius = ValueRadius(call, numbers);
    for (size_t k = 0; k < factors.values.size(); ++k)
      call.SetReal(kSingularValues, static_cast<int64_t>(k), {factors.values[k], radius});
    SetVectors(call, tall ? factors.left : factors.right, tall ? factors.right : factors.left);
    for (int64_t i = 0; i < a.rows * a.columns; ++i) call.Set(kOverwritten, i, call.At(0, i));
    call.Undecide(kOverwritten);
    if (vectors && call.results.bounds) {
      const auto property = SingularVectorProperty<E, S, W>(
          MatrixShape(call, kLeftVectors), MatrixShape(call, kRightVectors), a, factors.values,
          2 * radius + LostNearZero(call, numbers));
      call.JudgeByProperty(kLeftVectors, property, kLeftPart);
      call.JudgeByProperty(kRightVectors, property, kRightPart);
    } else {
      call.Undecide(kLeftVectors);
      call.Undecide(kRightVectors);
    }
    call.SetInteger(kSingularInfo, 0, 0);
  }

 private:
  // The shape of one matrix of result k.
  template <typename E>
  static Shape MatrixShape(const MatrixCall<E>& call, int64_t k) {
    return Shape::Array(call.results.ShapeOf(k).element_type(),
                        {call.ResultRows(k), call.ResultColumns(k)});
  }
  // Writes as many columns of u, and of v as conjugated rows, as the results have room for.
  template <typename E, typename S>
  static void SetVectors(MatrixCall<E>& call, const Matrix<S>& u, const Matrix<S>& v) {
    const int64_t u_columns = call.ResultColumns(kLeftVectors);
    for (int64_t i = 0; i < call.ResultRows(kLeftVectors); ++i)
      for (int64_t k = 0; k < u_columns; ++k)
        call.Set(kLeftVectors, i * u_columns + k, {u(i, k), 0});
    const int64_t v_columns = call.ResultColumns(kRightVectors);
    for (int64_t k = 0; k < call.ResultRows(kRightVectors); ++k)
      for (int64_t j = 0; j < v_columns; ++j)
        call.Set(kRightVectors, k * v_columns + j, {Conjugate(v(j, k)), 0});
  }
};

absl::StatusOr<Value> ApplyGesdd(Interpreter& interpreter, const OpContext& op) {
  return ForEachMatrix(interpreter, op, 2, SingularCall{.vectors = !HasOption(op, "mode", 'N')});
}

}  // namespace

absl::Span<const CustomCallTarget> EigenvalueTargets() {
  static constexpr CustomCallTarget kRows[] = {
      {.name = "syevd",
       .apply = ApplySyevd,
       .signature = "nn > nn, n:r, :i",
       .options = "mode uplo"},
      {.name = "heevd",
       .apply = ApplySyevd,
       .signature = "nn > nn, n:r, :i",
       .options = "mode uplo"},
      {.name = "Eigh", .apply = ApplyEigh, .signature = "nn > nn, n:r"},
      {.name = "gesdd",
       .apply = ApplyGesdd,
       .signature = "mn > mn, k:r, mu, vn, :i",
       .options = "mode"},
      {.name = "gesvd",
       .apply = ApplyGesdd,
       .signature = "mn > mn, k:r, mu, vn, :i",
       .options = "mode"},
  };
  return kRows;
}

}  // namespace assay::reference
