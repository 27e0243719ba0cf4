// Evaluates cholesky and triangular-solve matrix by matrix.
#include "reference/ops/linear_algebra/linear_algebra.h"

#include <limits>

#include "reference/bounds/choices/residual_choice.h"
#include "reference/bounds/linear_algebra.h"
#include "reference/bounds/range.h"

namespace assay::reference {
namespace {

// The residual that class RESID grants for matrices of order n, as a share of each element.
template <typename E>
long double ResidualOf(int64_t n) {
  return 4 * static_cast<long double>(n + 2) * UnitRoundoff<typename Scalar<E>::Real>();
}

template <typename E>
void FactorAll(const OpContext& op, bool lower, Literal& result) {
  using S = typename Scalar<E>::WideNumber;
  const CholeskyFactor factor(op, lower);
  const int64_t n = factor.order;
  for (int64_t batch = 0; batch < factor.batches && !op.OutOfTime(n * n * n); ++batch) {
    const E* in = op.literal(0).data<E>().data() + batch * n * n;
    E* out = result.data<E>().data() + batch * n * n;
    Matrix<S> a(n, n), l(n, n);
    ResidualChoice choice(op, n * (n + 1) / 2, ResidualOf<E>(n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        a(i, j) = choice(factor.OfUpper(WidenNumber(in[factor.At(i, j)])));
    const bool positive = FactorCholesky(a, l) == n;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        out[factor.At(i, j)] = RoundNumber<E>(i == j ? l(i, i) : factor.OfUpper(l(i, j)));
    const double quiet = std::numeric_limits<double>::quiet_NaN();
    S nan(quiet);
    if constexpr (!std::is_floating_point_v<S>) nan.imag(quiet);
    // A matrix that is not positive definite has no factor: all of the result is NaN.
    for (int64_t i = 0; !positive && i < n * n; ++i) out[i] = RoundNumber<E>(nan);
  }
}

template <typename E>
void SolveAll(const OpContext& op, const TriangularSystem& system, Literal& result) {
  using S = typename Scalar<E>::WideNumber;
  const int64_t n = system.order, columns = system.solutions;
  for (int64_t batch = 0; batch < system.batches && !op.OutOfTime(n * n * columns); ++batch) {
    const E* a = op.literal(0).data<E>().data() + batch * n * n;
    const E* b = op.literal(1).data<E>().data() + batch * n * columns;
    E* out = result.data<E>().data() + batch * n * columns;
    Matrix<S> l(n, n), x(n, columns);
    ResidualChoice choice(op, n * (n + 1) / 2 + n * columns, ResidualOf<E>(n));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j)
        l(i, j) = choice(system.OfA(WidenNumber(a[system.InA(i, j)])));
      l(i, i) = system.unit_diagonal ? S{1} : choice(system.OfA(WidenNumber(a[system.InA(i, i)])));
      for (int64_t c = 0; c < columns; ++c) x(i, c) = choice(WidenNumber(b[system.InB(i, c)]));
    }
    SolveLower(l, x);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < columns; ++c) out[system.InB(i, c)] = RoundNumber<E>(x(i, c));
  }
}

bool IsLower(const OpContext& op) { return op.instruction.attributes().Flag(Attr::kLower); }

absl::Status EvaluateCholesky(const OpContext& op, Literal& result) {
  return FactorMatrices(op, IsLower(op), result);
}
absl::Status BoundCholesky(const OpContext& op, Array& result) {
  return BoundFactors(op, IsLower(op), result);
}
absl::Status EvaluateTriangularSolve(const OpContext& op, Literal& result) {
  return SolveSystems(op, TriangularSystem(op), result);
}
absl::Status BoundTriangularSolve(const OpContext& op, Array& result) {
  return BoundSystems(op, TriangularSystem(op), result);
}

// Work of ops that make every element of the result from a row of a matrix at most.
int64_t RowPerElement(const OpContext& op) {
  const Shape& a = op.literal(0).shape();
  const double cost =
      static_cast<double>(op.count()) * static_cast<double>(a.dimension(a.rank() - 1) + 1);
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

absl::Status FactorMatrices(const OpContext& op, bool lower, Literal& result) {
  const bool done = DispatchNumber(
      op.type(), [&](auto tag) { FactorAll<typename decltype(tag)::type>(op, lower, result); });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

absl::Status SolveSystems(const OpContext& op, const TriangularSystem& system, Literal& result) {
  const bool done = DispatchNumber(
      op.type(), [&](auto tag) { SolveAll<typename decltype(tag)::type>(op, system, result); });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

absl::Span<const OpEvaluation> LinearAlgebraEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kCholesky,
       .evaluate = EvaluateCholesky,
       .bound = BoundCholesky,
       .cost = RowPerElement},
      {.opcode = Opcode::kTriangularSolve,
       .evaluate = EvaluateTriangularSolve,
       .bound = BoundTriangularSolve,
       .cost = RowPerElement},
  };
  return kRows;
}

}  // namespace assay::reference
