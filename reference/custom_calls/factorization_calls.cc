// LU, Cholesky, triangular and tridiagonal systems, as LAPACK's routines have them. A legal result
// is the exact one for matrices that differ by the residual which a backward stable algorithm
// leaves (operation semantics chapter 11, class RESID): discs of that size go through the textbook
// algorithm.
#include <numeric>

#include "reference/bounds/linear_algebra.h"
#include "reference/custom_calls/call_options.h"
#include "reference/custom_calls/matrix_call.h"
#include "reference/custom_calls/matrix_ops.h"
#include "reference/ops/linear_algebra/linear_algebra.h"
#include "reference/values/property.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {

namespace {

// The magnitude by which LAPACK chooses pivots.
template <typename W>
W PivotSize(W x) {
  return std::abs(x);
}
template <typename W>
W PivotSize(std::complex<W> x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

// The facts that elimination reports beside the factors that it leaves.
struct LuOutcome {
  std::vector<int64_t> pivots;  // row k was exchanged with row pivots[k]
  bool ambiguous = false;       // another pivot could be right too
  bool is_known = true;         // the sizes that were compared: neither NaN nor infinite
  int64_t info = 0;             // the number of the first zero pivot, counted from 1, or 0
  std::vector<int64_t> infos;   // all values that info may have
};

// a becomes L and U of its rows permuted.
template <typename S>
LuOutcome FactorLu(Matrix<Ball<S>>& matrix) {
  LuOutcome outcome;
  std::vector<int64_t>& pivots = outcome.pivots;
  bool& ambiguous = outcome.ambiguous;
  bool certain = true;  // no pivot so far was zero for sure
  const int64_t steps = std::min(matrix.rows, matrix.columns);
  for (int64_t k = 0; k < steps; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < matrix.rows; ++i)
      if (PivotSize(matrix(i, k).centre) > PivotSize(matrix(best, k).centre)) best = i;
    const auto least = PivotSize(matrix(best, k).centre) - 2 * matrix(best, k).radius;
    for (int64_t i = k; i < matrix.rows; ++i) {
      outcome.is_known = outcome.is_known && matrix(i, k).IsKnown();
      const bool could_be = PivotSize(matrix(i, k).centre) + 2 * matrix(i, k).radius >= least;
      const bool both_exact = matrix(i, k).radius == 0 && matrix(best, k).radius == 0;
      if (i != best && could_be && !both_exact) ambiguous = true;
    }
    pivots.push_back(best);
    if (best != k)
      for (int64_t j = 0; j < matrix.columns; ++j) std::swap(matrix(k, j), matrix(best, j));
    const bool is_zero = matrix(k, k).IsZero(), may_be_zero = matrix(k, k).MayBeZero();
    if (may_be_zero && certain) outcome.infos.push_back(k + 1);
    certain = certain && !is_zero;
    if (matrix(k, k).centre == S{}) {
      if (outcome.info == 0) outcome.info = k + 1;
      // Without rows below, nothing is divided by it.
      if (!is_zero && k + 1 < matrix.rows) ambiguous = true;
      continue;
    }
    for (int64_t i = k + 1; i < matrix.rows; ++i) {
      matrix(i, k) = matrix(i, k) / matrix(k, k);
      for (int64_t j = k + 1; j < matrix.columns; ++j)
        matrix(i, j) = matrix(i, j) - matrix(i, k) * matrix(k, j);
    }
  }
  if (certain) outcome.infos.push_back(0);
  return outcome;
}

// The positions of the results of an LU factorisation.
enum LuResult : int64_t { kFactors, kPivots, kInfoOrRows };

// Adds c u |L| |U| to the radii of the matrix whose factors are `lu`.
template <typename E, typename M>
void AddLuResidual(const MatrixCall<E>& call, const M& lu, const std::vector<int64_t>& pivots,
                   M& a) {
  using W = typename MatrixCall<E>::W;
  M permuted(a.rows, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      W sum = i <= j ? lu(i, j).Modulus() : W{0};
      for (int64_t k = 0; k < std::min({i, j + 1, lu.columns}); ++k)
        sum += lu(i, k).Modulus() * lu(k, j).Modulus();
      permuted(i, j).radius = call.Residual(4 * (std::min(a.rows, a.columns) + 2)) * sum;
    }
  }
  for (size_t k = pivots.size(); k-- > 0;) {
    const auto row = static_cast<int64_t>(k);
    if (pivots[k] == row) continue;
    for (int64_t j = 0; j < a.columns; ++j) std::swap(permuted(row, j), permuted(pivots[k], j));
  }
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i].radius += permuted.values[i].radius;
}

// The rows of a in the order in which elimination exchanged them: `pivots` are counted from `base`.
// False where they are none.
template <typename M>
bool ExchangeRows(const Literal& pivots, int64_t base, M& a) {
  for (int64_t k = 0; k < pivots.element_count(); ++k) {
    const int64_t other = pivots.GetInteger(k) - base;
    if (other < k || other >= a.rows) return false;
    for (int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(other, j));
  }
  return true;
}

// True if l u is near a, in all elements, and no element of l is larger than its pivot allows.
template <typename E, typename M>
bool AreFactors(const Matrix<typename Scalar<E>::WideNumber>& lu, const M& a) {
  using S = typename MatrixCall<E>::S;
  using T = typename MatrixCall<E>::T;
  using W = typename MatrixCall<E>::W;
  const W unit = MatrixCall<E>::Residual(4 * (std::min(a.rows, a.columns) + 2));
  // LAPACK compares |re| + |im|, which is the modulus up to a factor of the root of 2.
  const W largest = (std::is_same_v<E, T> ? W{1} : std::sqrt(W{2})) + unit;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      if (j < i && !(std::abs(lu(i, j)) <= largest)) return false;
      S sum = i <= j ? lu(i, j) : S{};
      W terms = std::abs(sum), underflow = 0;
      for (int64_t k = 0; k < std::min(i, j + 1); ++k) {
        sum += lu(i, k) * lu(k, j);
        terms += std::abs(lu(i, k)) * std::abs(lu(k, j));
        underflow += Tiny<T>() * (1 + std::abs(lu(k, j)));
      }
      // Nothing is asked of an element that is not known, whose plain value may be NaN.
      if (!a(i, j).IsKnown()) continue;
      const W allowed = a(i, j).radius + unit * terms + 4 * underflow;
      if (!(std::abs(sum - a(i, j).centre) <= allowed)) return false;
    }
  }
  return true;
}

// Discs that go through the algorithm grow with every step, and then another pivot could be right
// too, while the residual of the factors that were seen does not grow. Its parts are the results.
template <bool kExpander, typename E>
void JudgeSeenFactors(MatrixCall<E>& call, typename MatrixCall<E>::NumberMatrix a) {
  const int64_t steps = std::min(a.rows, a.columns);
  auto property = std::make_shared<Property>();
  property->what = "p a = l u";
  property->only_seen = true;
  property->parts = {
      Shape::Array(call.results.ShapeOf(kFactors).element_type(), {a.rows, a.columns}),
      Shape::Array(call.results.ShapeOf(kPivots).element_type(), {steps}),
      Shape::Array(call.results.ShapeOf(kInfoOrRows).element_type(), {kExpander ? a.rows : 1})};
  property->violation = [a = std::move(a), steps](absl::Span<const Literal> parts,
                                                  const std::vector<bool>& present) -> std::string {
    if (!present[kFactors] || !present[kPivots]) return "not all factors were seen";
    auto permuted = a;
    if (!ExchangeRows(parts[kPivots], kExpander ? 0 : 1, permuted)) return "no pivots";
    const auto lu = MatrixOf<E>(parts[kFactors]);
    if (!AreFactors<E>(lu, permuted)) return "l u is not p a";
    if (!present[kInfoOrRows]) return "";
    Matrix<Ball<double>> rows(a.rows, 1);
    for (int64_t i = 0; i < a.rows; ++i) rows(i, 0) = {static_cast<double>(i), 0};
    ExchangeRows(parts[kPivots], kExpander ? 0 : 1, rows);
    int64_t zero = 0;
    while (zero < steps && lu(zero, zero) != typename MatrixCall<E>::S{}) ++zero;
    for (int64_t i = 0; i < parts[kInfoOrRows].element_count(); ++i) {
      const auto wanted =
          kExpander ? static_cast<int64_t>(rows(i, 0).centre) : (zero + 1) % (steps + 1);
      if (parts[kInfoOrRows].GetInteger(i) != wanted) return "the last result is another";
    }
    return "";
  };
  for (int64_t k = 0; k <= kInfoOrRows; ++k)
    for (int64_t i = 0; i < property->parts[k].ElementCount(); ++i)
      call.Attach(k, i, property, k, i);
}

// (a) -> (lu, pivots counted from 1, info), or as XLA's expander has it (lu, pivots counted from 0,
// the permutation of the rows).
template <bool kExpander>
absl::StatusOr<Value> ApplyGetrf(Interpreter& interpreter, const OpContext& op) {
  return ForEachMatrix(interpreter, op, 2, [](auto call) {
    const auto given = call.Read(0);
    auto a = given, lu = given;
    LuOutcome outcome = FactorLu(lu);
    // Which row is the largest of what is NaN, and what a quotient by an infinity leaves of complex
    // numbers, is the routine's own.
    if (call.results.bounds && !outcome.is_known) return call.UndecideAll();
    if (call.results.bounds && !outcome.ambiguous) {
      AddLuResidual(call, lu, outcome.pivots, a);
      lu = a;
      outcome = FactorLu(lu);
      if (!outcome.is_known) return call.UndecideAll();
    }
    if (outcome.ambiguous && call.results.bounds) {
      call.UndecideAll();
      return JudgeSeenFactors<kExpander>(call, given);
    }
    const std::vector<int64_t>& pivots = outcome.pivots;
    call.Write(kFactors, lu);
    if (call.results.bounds) JudgeSeenFactors<kExpander>(call, given);
    for (size_t k = 0; k < pivots.size(); ++k)
      call.SetInteger(kPivots, static_cast<int64_t>(k), pivots[k] + (kExpander ? 0 : 1));
    if (!kExpander) {
      call.SetInteger(kInfoOrRows, 0, outcome.info);
      return call.SetOneOf(kInfoOrRows, 0, outcome.infos);
    }
    std::vector<int64_t> rows(static_cast<size_t>(a.rows));
    std::iota(rows.begin(), rows.end(), 0);
    for (size_t k = 0; k < pivots.size(); ++k) std::swap(rows[k], rows[pivots[k]]);
    for (size_t k = 0; k < rows.size(); ++k)
      call.SetInteger(kInfoOrRows, static_cast<int64_t>(k), rows[k]);
  });
}

// Judges the triangle that potrf does not refer to: it is the operand's, since the routine works in
// place, or zero where it was cleared before. If `may_fail`, the matrix may have no factor, and
// then the triangle may be NaN with the rest.
void JudgeOtherTriangle(const Array& array, bool lower, int64_t first, int64_t n, bool may_fail,
                        Array& factor) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) places.push_back(first + (lower ? i * n + j : j * n + i));
  Literal given(Shape::Array(factor.literal.element_type(), {static_cast<int64_t>(places.size())}));
  const int64_t width = BoundsPerElement(given.element_type());
  for (size_t k = 0; k < places.size(); ++k) {
    for (int64_t part = 0; part < width; ++part) {
      const int64_t slot = places[k] * width + part;
      // Only what is known to the last bit can be compared.
      if (array.facts().IsOpen(slot)) return;
      given.SetComponentBits(static_cast<int64_t>(k) * width + part,
                             array.literal.GetComponentBits(slot));
    }
  }
  auto property = std::make_shared<Property>();
  property->what = "the other triangle is the operand's or zero";
  property->parts = {given.shape()};
  property->violation = [given, may_fail](absl::Span<const Literal> parts,
                                          const std::vector<bool>&) -> std::string {
    for (int64_t k = 0; k < given.component_count(); ++k) {
      const uint64_t code = parts[0].GetComponentBits(k);
      const bool is_nan = std::isnan(parts[0].GetComponent(k));
      const bool same =
          code == given.GetComponentBits(k) || (is_nan && std::isnan(given.GetComponent(k)));
      if (!same && code != 0 && !(may_fail && is_nan))
        return "the triangle that is not referred to was changed";
    }
    return "";
  };
  for (size_t k = 0; k < places.size(); ++k) {
    SetUndecided(factor, places[k]);
    factor.facts().origins.insert_or_assign(places[k],
                                            Origin{property, 0, static_cast<int64_t>(k)});
  }
}

// (a) -> (Cholesky factor, info).
absl::StatusOr<Value> ApplyPotrf(Interpreter& interpreter, const OpContext& op) {
  const bool lower = HasOption(op, "uplo", 'L');
  const Shape& shape = op.shape.elements()[0];
  const OpContext factor_op = op.On(shape, op.operands);
  Array factor{Literal(shape)}, info{Literal(op.shape.elements()[1])};
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount()));
  ASSAY_RETURN_IF_ERROR(FactorMatrices(factor_op, lower, factor.literal));
  const int64_t n = shape.dimension(shape.rank() - 1);
  const Literal parts =
      IsComplex(shape.element_type()) ? Components(factor.literal) : factor.literal;
  const int64_t slots = IsComplex(shape.element_type()) ? 2 : 1;
  if (interpreter.bounding()) {
    ASSAY_RETURN_IF_ERROR(BoundFactors(factor_op, lower, factor));
  }
  for (int64_t batch = 0; n > 0 && batch < info.literal.element_count(); ++batch) {
    const int64_t corner = (batch + 1) * n * n - 1;
    info.literal.SetInteger(batch, std::isnan(parts.GetComponent(corner * slots)) ? n : 0);
    bool undecided = !factor.facts().bounds.empty() &&
                     (factor.facts().bounds[corner * slots].flags & kUndecided) != 0;
    if (const auto origin = factor.facts().origins.find(corner);
        origin != factor.facts().origins.end())
      undecided = AcceptsNan(*origin->second.property);
    const bool may_fail = undecided || info.literal.GetInteger(batch) != 0;
    if (interpreter.bounding() && n > 1)
      JudgeOtherTriangle(op.array(0), lower, batch * n * n, n, may_fail, factor);
    if (may_fail) {
      // UNSPECIFIED(operation semantics 14, CustomCall): which minor the info names as the first
      // that is not positive.
      if (interpreter.bounding()) SetUndecided(info, batch);
    }
  }
  return Value::Tuple({MakeValue(std::move(factor), interpreter.memory()),
                       MakeValue(std::move(info), interpreter.memory())});
}

// (a, b) -> x with op(a) x = b or x op(a) = b.
absl::StatusOr<Value> ApplyTrsm(Interpreter& interpreter, const OpContext& op) {
  const Shape& shape = op.shape.IsTuple() ? op.shape.elements()[0] : op.shape;
  const OpContext solve_op = op.On(shape, op.operands);
  const bool left = HasOption(op, "side", 'L');
  const int64_t order = op.literal(0).shape().dimensions().back();
  if (order != shape.dimension(shape.rank() - (left ? 2 : 1))) {
    return MakeError(ErrorClass::kUnsupported, StrCat(op.instruction.name(), ": a matrix of order ",
                                                      order, " does not multiply the result"));
  }
  const TriangularSystem system(solve_op, {.left = left,
                                           .lower = HasOption(op, "uplo", 'L'),
                                           .unit_diagonal = HasOption(op, "diag", 'U'),
                                           .transposed = !HasOption(op, "trans_x", 'N'),
                                           .conjugated = HasOption(op, "trans_x", 'C')});
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(shape.ElementCount() * system.order));
  Array x{Literal(shape)};
  ASSAY_RETURN_IF_ERROR(SolveSystems(solve_op, system, x.literal));
  if (interpreter.bounding()) {
    ASSAY_RETURN_IF_ERROR(BoundSystems(solve_op, system, x));
  }
  Value value = MakeValue(std::move(x), interpreter.memory());
  return op.shape.IsTuple() ? Value::Tuple({value}) : value;
}

// The positions of the operands of gtsv, which its results of the same kinds have too, and of the
// further result.
enum TridiagonalArray : int64_t { kBelow, kDiagonal, kAbove, kRightSides, kTridiagonalInfo };

// (lower, diagonal, upper, b) -> (the three overwritten, x, info).
absl::StatusOr<Value> ApplyGtsv(Interpreter& interpreter, const OpContext& op) {
  return ForEachMatrix(interpreter, op, 1, [](auto call) {
    using M = typename decltype(call)::NumberMatrix;
    using W = typename decltype(call)::W;
    const int64_t n = call.Columns(kDiagonal);
    M a(n, n);
    for (int64_t i = 0; i < n; ++i) {
      a(i, i) = call.At(kDiagonal, i);
      if (i > 0) a(i, i - 1) = call.At(kBelow, i);
      if (i + 1 < n) a(i, i + 1) = call.At(kAbove, i);
    }
    if (call.results.bounds) {
      // Elimination with pivoting in a band of three leaves a residual of a few ulps per element.
      W largest = 0;
      for (const auto& x : a.values) largest = std::max(largest, x.Modulus());
      for (auto& x : a.values) x.radius += call.Residual(16) * largest;
    }
    call.Choose(a);
    M b = call.ReadExactly(kRightSides);
    // Whatever the pivots, the solution is the same: ambiguity only matters to the factors.
    const LuOutcome outcome = FactorLu(a);
    const std::vector<int64_t>& pivots = outcome.pivots;
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t k = 0; k < n; ++k) std::swap(b(k, c), b(pivots[k], c));
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j) b(i, c) = b(i, c) - a(i, j) * b(j, c);
      for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; ++j) b(i, c) = b(i, c) - a(i, j) * b(j, c);
        b(i, c) = b(i, c) / a(i, i);
      }
    }
    call.Write(kRightSides, b);
    for (int64_t k : {kBelow, kDiagonal, kAbove}) {
      for (int64_t i = 0; i < n; ++i) call.Set(k, i, call.At(k, i));
      call.Undecide(k);
    }
    call.SetInteger(kTridiagonalInfo, 0, outcome.info);
    if (outcome.infos.size() > 1) call.SetOneOf(kTridiagonalInfo, 0, outcome.infos);
    if (outcome.ambiguous && outcome.info != 0) call.Undecide(kTridiagonalInfo);
  });
}

}  // namespace

absl::Span<const CustomCallTarget> FactorizationTargets() {
  static constexpr CustomCallTarget kRows[] = {
      {.name = "getrf", .apply = ApplyGetrf<false>, .signature = "mn > mn, k:i, :i"},
      {.name = "LuDecomposition", .apply = ApplyGetrf<true>, .signature = "mn > mn, k:i, m:i"},
      {.name = "potrf", .apply = ApplyPotrf, .signature = "nn > nn, :i", .options = "uplo"},
      {.name = "trsm",
       .apply = ApplyTrsm,
       .signature = "oo, mn > mn",
       .options = "side uplo diag trans_x"},
      {.name = "gtsv", .apply = ApplyGtsv, .signature = "n, n, n, np > n, n, n, np, :i"},
  };
  return kRows;
}

}  // namespace assay::reference
