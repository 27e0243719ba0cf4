// Eigenvalues of Hermitian matrices and singular values, as LAPACK's routines have them, by
// Jacobi's rotations. The values are unique, and by Weyl's theorem off by no more than the norm of
// the residual; vectors are unique up to their phase at best.
#include <algorithm>
#include <numeric>

#include "reference/custom_calls/matrix_ops.h"

namespace assay::reference {
namespace {

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
        if (!(std::abs(a(p, q)) > scale * std::numeric_limits<W>::epsilon() * W{0.25}) ||
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

// Columns of m from `from` on are replaced by unit vectors orthogonal to all before them.
template <typename S>
void CompleteBasis(Matrix<S>& m, int64_t from) {
  using W = decltype(std::abs(S()));
  int64_t candidate = 0;
  for (int64_t j = from; j < m.columns && candidate < m.rows; ++candidate) {
    for (int64_t i = 0; i < m.rows; ++i) m(i, j) = i == candidate ? S(1) : S{};
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < j; ++k) {
        S inner{};
        for (int64_t i = 0; i < m.rows; ++i) inner += Conjugate(m(i, k)) * m(i, j);
        for (int64_t i = 0; i < m.rows; ++i) m(i, j) -= inner * m(i, k);
      }
    }
    W squares = 0;
    for (int64_t i = 0; i < m.rows; ++i) squares += RealPart(m(i, j) * Conjugate(m(i, j)));
    if (squares < W{0.01} / static_cast<W>(m.rows)) continue;
    for (int64_t i = 0; i < m.rows; ++i) m(i, j) /= std::sqrt(squares);
    ++j;
  }
}

// The columns of m multiplied by `values`; none are zero.
template <typename S, typename W>
Matrix<S> Scaled(Matrix<S> m, const std::vector<W>& values) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j)
      m(i, j) *= j < static_cast<int64_t>(values.size()) ? values[j] : W{0};
  return m;
}

// The first columns of m.
template <typename S>
Matrix<S> FirstColumns(const Matrix<S>& m, int64_t columns) {
  Matrix<S> first(m.rows, columns);
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < columns; ++j) first(i, j) = m(i, j);
  return first;
}

// Of eigenvectors v, given the matrix and its eigenvalues, which are off by half of `residual`.
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
    if (!IsOrthonormal(v, MatrixCall<E>::Residual(8 * (a.rows + 2))))
      return "the eigenvectors are not orthonormal";
    if (!IsNear(Product(a, v), Scaled(v, values), residual)) return "a v is not v w";
    return "";
  };
  return property;
}

// Of singular vectors u and vᴴ.
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
    const Matrix<S> u = MatrixOf<E>(parts[0]), v = Adjoint(MatrixOf<E>(parts[1]));
    if (present[0] && !IsOrthonormal(u, unit))
      return "the left singular vectors are not orthonormal";
    if (present[1] && !IsOrthonormal(v, unit))
      return "the right singular vectors are not orthonormal";
    const Matrix<S> us = Scaled(FirstColumns(u, rank), values);
    const Matrix<S> vs = Scaled(FirstColumns(v, rank), values);
    if (present[0] && present[1])
      return IsNear(Product(us, Adjoint(FirstColumns(v, rank))), a, residual) ? ""
                                                                              : "u s vᴴ is not a";
    // One side alone: a aᴴ u = u s², aᴴ a v = v s².
    W largest = 0;
    for (W value : values) largest = std::max(largest, value);
    const Matrix<S> adjoint = Adjoint(a);
    if (present[0] && !IsNear(Product(a, Product(adjoint, FirstColumns(u, rank))),
                              Scaled(us, values), 2 * residual * largest))
      return "a aᴴ u is not u s²";
    if (present[1] && !IsNear(Product(adjoint, Product(a, FirstColumns(v, rank))),
                              Scaled(vs, values), 2 * residual * largest))
      return "aᴴ a v is not v s²";
    return "";
  };
  return property;
}

// (a) -> (eigenvectors, eigenvalues ascending, and LAPACK's info).
absl::StatusOr<Value> HermitianEigen(Interpreter& interpreter, const OpContext& op, bool lower,
                                     bool vectors) {
  return ForEachMatrix(interpreter, op, 2, [lower, vectors](auto call) {
    using E = typename decltype(call)::Element;
    using S = typename decltype(call)::S;
    using W = typename decltype(call)::W;
    auto numbers = call.Read(0);
    const int64_t n = numbers.rows;
    for (int64_t i = 0; i < n; ++i) {
      numbers(i, i).centre = S(RealPart(numbers(i, i).centre));
      for (int64_t j = 0; j < i; ++j) {
        if (lower) numbers(j, i) = Conjugate(numbers(i, j));
        if (!lower) numbers(i, j) = Conjugate(numbers(j, i));
      }
    }
    Matrix<S> a = Centres<S>(numbers), v(n, n);
    if (!IsFinite(a)) {
      for (int64_t i = 0; i < n; ++i) call.SetReal(1, i, {std::numeric_limits<W>::quiet_NaN(), 0});
      return call.UndecideAll();
    }
    const Matrix<S> matrix = a;
    DiagonalizeHermitian(a, v);
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t x, int64_t y) { return RealPart(a(x, x)) < RealPart(a(y, y)); });
    const W radius = ValueRadius(call, numbers);
    std::vector<W> values;
    for (int64_t k = 0; k < n; ++k) {
      values.push_back(RealPart(a(order[k], order[k])));
      call.SetReal(1, k, {RealPart(a(order[k], order[k])), radius});
      for (int64_t i = 0; i < n; ++i) call.Set(0, i * n + k, {v(i, order[k]), 0});
    }
    if (vectors && call.results.bounds) {
      call.JudgeByProperty(0,
                           EigenvectorProperty<E, S, W>(call.results.ShapeOf(0).element_type(),
                                                        matrix, std::move(values), 2 * radius),
                           0);
    } else {
      call.Undecide(0);
    }
    if (call.results.arrays.size() > 2) call.SetInteger(2, 0, 0);
  });
}

absl::StatusOr<Value> ApplySyevd(Interpreter& interpreter, const OpContext& op) {
  return HermitianEigen(interpreter, op, HasOption(op, "uplo", 'L'), HasOption(op, "mode", 'V'));
}

// XLA's expander: the configuration begins with whether the lower triangle is read.
absl::StatusOr<Value> ApplyEigh(Interpreter& interpreter, const OpContext& op) {
  const std::string& config = op.instruction.attributes().String(Attr::kBackendConfig);
  absl::StatusOr<Value> value =
      HermitianEigen(interpreter, op, config.empty() || config[0] == '1', true);
  // The next one says whether the eigenvalues are sorted; otherwise any order is right.
  const bool sorted = config.size() < 3 || config[2] != '0';
  if (!value.ok() || sorted || !interpreter.bounding()) return value;
  return Undecided(*value, interpreter.memory());
}

// (a) -> (a overwritten, singular values descending, u, vᴴ, info).
absl::StatusOr<Value> ApplyGesdd(Interpreter& interpreter, const OpContext& op) {
  const bool vectors = !HasOption(op, "mode", 'N');
  return ForEachMatrix(interpreter, op, 2, [vectors](auto call) {
    using E = typename decltype(call)::Element;
    using S = typename decltype(call)::S;
    using W = typename decltype(call)::W;
    const auto numbers = call.Read(0);
    const bool tall = numbers.rows >= numbers.columns;
    const Matrix<S> a = Centres<S>(numbers);
    const int64_t rank = std::min(a.rows, a.columns), longer = std::max(a.rows, a.columns);
    if (!IsFinite(a)) {
      for (int64_t i = 0; i < rank; ++i)
        call.SetReal(1, i, {std::numeric_limits<W>::quiet_NaN(), 0});
      return call.UndecideAll();
    }
    // Of the transpose if that is the tall one.
    Matrix<S> g(longer, rank), v(rank, rank);
    for (int64_t i = 0; i < longer; ++i)
      for (int64_t j = 0; j < rank; ++j) g(i, j) = tall ? a(i, j) : Conjugate(a(j, i));
    OrthogonalizeColumns(g, v);
    std::vector<W> sizes(static_cast<size_t>(rank));
    for (int64_t j = 0; j < rank; ++j) {
      for (int64_t i = 0; i < longer; ++i) sizes[j] += RealPart(g(i, j) * Conjugate(g(i, j)));
      sizes[j] = std::sqrt(sizes[j]);
    }
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t x, int64_t y) { return sizes[x] > sizes[y]; });
    const W radius = ValueRadius(call, numbers);
    Matrix<S> left(longer, longer), right(rank, rank);
    int64_t nonzero = 0;
    for (int64_t k = 0; k < rank; ++k) {
      call.SetReal(1, k, {sizes[order[k]], radius});
      for (int64_t i = 0; i < rank; ++i) right(i, k) = v(i, order[k]);
      if (sizes[order[k]] == 0) continue;
      ++nonzero;
      for (int64_t i = 0; i < longer; ++i) left(i, k) = g(i, order[k]) / sizes[order[k]];
    }
    CompleteBasis(left, nonzero);
    const Matrix<S>&u = tall ? left : right, &w = tall ? right : left;
    for (int64_t i = 0; i < call.ResultRows(2); ++i)
      for (int64_t k = 0; k < call.ResultColumns(2); ++k)
        call.Set(2, i * call.ResultColumns(2) + k, {u(i, k), 0});
    for (int64_t k = 0; k < call.ResultRows(3); ++k)
      for (int64_t j = 0; j < call.ResultColumns(3); ++j)
        call.Set(3, k * call.ResultColumns(3) + j, {Conjugate(w(j, k)), 0});
    for (int64_t i = 0; i < a.rows * a.columns; ++i) call.Set(0, i, call.At(0, i));
    call.Undecide(0);
    if (vectors && call.results.bounds) {
      std::vector<W> values;
      for (int64_t k : order) values.push_back(sizes[k]);
      const ElementType type = call.results.ShapeOf(2).element_type();
      const auto property = SingularVectorProperty<E, S, W>(
          Shape::Array(type, {call.ResultRows(2), call.ResultColumns(2)}),
          Shape::Array(type, {call.ResultRows(3), call.ResultColumns(3)}), a, std::move(values),
          2 * radius);
      call.JudgeByProperty(2, property, 0);
      call.JudgeByProperty(3, property, 1);
    } else {
      call.Undecide(2);
      call.Undecide(3);
    }
    call.SetInteger(4, 0, 0);
  });
}

}  // namespace

absl::Span<const CustomCallTarget> EigenvalueTargets() {
  static constexpr CustomCallTarget kRows[] = {
      {"syevd", ApplySyevd, "nn > nn, n:r, :i", "mode uplo"},
      {"heevd", ApplySyevd, "nn > nn, n:r, :i", "mode uplo"},
      {"Eigh", ApplyEigh, "nn > nn, n:r"},
      {"gesdd", ApplyGesdd, "mn > mn, k:r, mu, vn, :i", "mode"},
      {"gesvd", ApplyGesdd, "mn > mn, k:r, mu, vn, :i", "mode"},
  };
  return kRows;
}

}  // namespace assay::reference
