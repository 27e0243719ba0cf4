// Document: operation semantics chapter 11, Cholesky and TriangularSolve.
#include "reference/linear_algebra.h"

#include <limits>

#include "reference/bounds/elements.h"

namespace assay::reference {
namespace {

int64_t BatchCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < shape.rank(); ++d) count *= shape.dimension(d);
  return count;
}

template <typename T>
void FactorAll(const OpContext& op, Literal& result) {
  using W = Wide<T>;
  const CholeskyFactor factor(op);
  const int64_t n = factor.order;
  for (int64_t batch = 0; batch < factor.batches; ++batch) {
    const T* in = op.literal(0).data<T>().data() + batch * n * n;
    T* out = result.data<T>().data() + batch * n * n;
    Matrix<W> a(n, n), l(n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) a(i, j) = Widen<W>(in[factor.At(i, j)]);
    const bool positive = FactorCholesky(a, l) == n;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) out[factor.At(i, j)] = Round<T>(l(i, j));
    // Not positive definite: no factor, which the whole matrix says.
    for (int64_t i = 0; !positive && i < n * n; ++i)
      out[i] = Round<T>(std::numeric_limits<W>::quiet_NaN());
  }
}

template <typename T>
void SolveAll(const OpContext& op, Literal& result) {
  using W = Wide<T>;
  const TriangularSystem system(op);
  const int64_t n = system.order, columns = system.solutions;
  for (int64_t batch = 0; batch < system.batches; ++batch) {
    const T* a = op.literal(0).data<T>().data() + batch * n * n;
    const T* b = op.literal(1).data<T>().data() + batch * n * columns;
    T* out = result.data<T>().data() + batch * n * columns;
    Matrix<W> l(n, n), x(n, columns);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) l(i, j) = Widen<W>(a[system.InA(i, j)]);
      l(i, i) = system.unit_diagonal ? W{1} : Widen<W>(a[system.InA(i, i)]);
      for (int64_t c = 0; c < columns; ++c) x(i, c) = Widen<W>(b[system.InB(i, c)]);
    }
    SolveLower(l, x);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < columns; ++c) out[system.InB(i, c)] = Round<T>(x(i, c));
  }
}

absl::Status EvaluateCholesky(const OpContext& op, Literal& result) {
  const bool done = DispatchComputed(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsReal<T>) FactorAll<T>(op, result);
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

absl::Status EvaluateTriangularSolve(const OpContext& op, Literal& result) {
  const bool done = DispatchComputed(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsReal<T>) SolveAll<T>(op, result);
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

// Every element of the result is made from a row of a matrix at most.
int64_t RowPerElement(const OpContext& op) {
  const Shape& a = op.literal(0).shape();
  const double cost =
      static_cast<double>(op.count()) * static_cast<double>(a.dimension(a.rank() - 1) + 1);
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

CholeskyFactor::CholeskyFactor(const OpContext& op)
    : order(op.shape.dimension(op.shape.rank() - 1)),
      batches(BatchCount(op.shape)),
      lower(op.instruction.attributes().Flag(Attr::kLower)) {}

TriangularSystem::TriangularSystem(const OpContext& op) {
  const Attributes& attributes = op.instruction.attributes();
  const Shape &a = op.literal(0).shape(), &b = op.shape;
  const std::string_view transpose =
      WordAt(Attr::kTransposeA, attributes.Integer(Attr::kTransposeA));
  left = attributes.Flag(Attr::kLeftSide);
  unit_diagonal = attributes.Flag(Attr::kUnitDiagonal);
  conjugated = transpose == "ADJOINT";
  // x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
  transposed = (transpose != "NO_TRANSPOSE") == left;
  backwards = attributes.Flag(Attr::kLower) == transposed;
  order = a.dimension(a.rank() - 1);
  solutions = b.dimension(b.rank() - (left ? 1 : 2));
  batches = BatchCount(a);
}

absl::Span<const OpEvaluation> LinearAlgebraEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kCholesky, EvaluateCholesky, BoundCholesky, nullptr, RowPerElement},
      {Opcode::kTriangularSolve, EvaluateTriangularSolve, BoundTriangularSolve, nullptr,
       RowPerElement},
  };
  return kRows;
}

}  // namespace assay::reference
