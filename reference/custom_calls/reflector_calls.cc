// Factorisations by Householder's reflectors as LAPACK's routines have them: QR with and without
// pivoting, Hessenberg and tridiagonal form, and products with the orthogonal factor. A legal
// result is the exact one for matrices that differ by the residual which a backward stable
// algorithm leaves (operation semantics chapter 11, class RESID): discs of that size go through the
// textbook algorithm.
#include "reference/custom_calls/call_options.h"
#include "reference/custom_calls/reflector_property.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// The reflector 1 - tau v vᴴ, v starting with 1, that takes column `k` from row `first` on to a
// multiple of the first unit vector, which replaces it; the rest of v is stored below. Returns tau.
// `given` is the element of the routine's operand that decides about the sign, or null where that
// element was computed.
template <typename S>
Ball<S> MakeReflector(Matrix<Ball<S>>& matrix, int64_t first, int64_t k, bool& ambiguous,
                      const Ball<S>* given = nullptr) {
  using D = Ball<S>;
  D below;
  for (int64_t i = first + 1; i < matrix.rows; ++i) below = below + SquaredModulus(matrix(i, k));
  const D alpha = matrix(first, k);
  const bool is_known = given != nullptr && given->radius == 0;
  const S decides = is_known ? given->centre : alpha.centre;
  const auto imaginary = std::abs(decides - S(RealPart(decides)));
  // Rounding alone may leave a complex element real or not, and only one of both has a reflector.
  constexpr bool kIsComplex = !std::is_floating_point_v<S>;
  if (kIsComplex && !is_known && below.MayBeZero() && imaginary <= alpha.radius && alpha.radius > 0)
    ambiguous = true;
  if (below.IsZero() && imaginary == 0) return D();
  if (below.MayBeZero() && first + 1 < matrix.rows) ambiguous = true;
  const bool is_given = is_known && !std::signbit(RealPart(given->centre));
  if (std::abs(RealPart(alpha.centre)) <= alpha.radius && !is_given) ambiguous = true;
  const D norm = SquareRoot(below + SquaredModulus(alpha));
  const D beta = RealPart(alpha.centre) < 0 ? norm : -norm;
  const D scale = alpha - beta;
  for (int64_t i = first + 1; i < matrix.rows; ++i) matrix(i, k) = matrix(i, k) / scale;
  matrix(first, k) = beta;
  return (beta - alpha) / beta;
}

// target = (1 - tau v vᴴ) target for columns from `from` on, v in column k of `a` from row `first`
// on.
template <typename S>
void Reflect(const Matrix<Ball<S>>& matrix, int64_t first, int64_t k, const Ball<S>& tau,
             Matrix<Ball<S>>& target, int64_t from) {
  for (int64_t j = from; j < target.columns; ++j) {
    Ball<S> sum = target(first, j);
    for (int64_t i = first + 1; i < target.rows; ++i)
      sum = sum + Conjugate(matrix(i, k)) * target(i, j);
    sum = tau * sum;
    target(first, j) = target(first, j) - sum;
    for (int64_t i = first + 1; i < target.rows; ++i)
      target(i, j) = target(i, j) - matrix(i, k) * sum;
  }
}

// Adds the residual of an orthogonal factorisation, in each column c u times the column's norm.
template <typename E, typename M>
void AddColumnResidual(const MatrixCall<E>& call, M& a) {
  using W = typename MatrixCall<E>::W;
  for (int64_t j = 0; j < a.columns; ++j) {
    W squares = 0;
    for (int64_t i = 0; i < a.rows; ++i) squares += a(i, j).Modulus() * a(i, j).Modulus();
    const W residual = call.Residual(4 * (a.rows + a.columns)) * std::sqrt(squares);
    for (int64_t i = 0; i < a.rows; ++i) a(i, j).radius += residual;
  }
}

// (a) -> (R with the reflectors below it, tau).
absl::StatusOr<Value> ApplyGeqrf(Interpreter& interpreter, const OpContext& op) {
  return ForEachMatrix(interpreter, op, 2, [](auto call) {
    auto a = call.Read(0, decltype(call)::ResidualSize::kByNorm);
    const auto given = a;
    if (call.results.bounds) AddColumnResidual(call, a);
    bool ambiguous = false;
    std::vector<typename decltype(call)::Number> taus;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      taus.push_back(MakeReflector(a, k, k, ambiguous, k == 0 ? &given(0, 0) : nullptr));
      Reflect(a, k, k, Conjugate(taus.back()), a, k + 1);
    }
    if (call.results.bounds && ambiguous) {
      call.UndecideAll();
    } else {
      call.Write(0, a);
      for (size_t k = 0; k < taus.size(); ++k) call.Set(1, static_cast<int64_t>(k), taus[k]);
    }
    if (!call.results.bounds || (!ambiguous && call.AreUseful(a.values) && call.AreUseful(taus)))
      return;
    if (const auto property = MakeQrProperty(call, given); property != nullptr)
      AttachQrParts(call, property, 1);
  });
}

// (reflectors, tau) -> the first columns of their product.
absl::StatusOr<Value> ApplyOrgqr(Interpreter& interpreter, const OpContext& op) {
  return ForEachMatrix(interpreter, op, 2, [](auto call) {
    using M = typename decltype(call)::NumberMatrix;
    using W = typename decltype(call)::W;
    const M a = call.ReadExactly(0);
    M q(a.rows, a.columns);
    for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) q(i, i) = {1};
    const int64_t reflectors = std::min(call.Columns(1), a.columns);
    for (int64_t k = reflectors; k-- > 0;) Reflect(a, k, k, call.At(1, k), q, 0);
    for (auto& x : q.values)
      if (call.results.bounds) x.radius += call.Residual(4 * (a.rows + a.columns)) * W{1};
    call.Write(0, q);
    if (!call.results.bounds) return;
    const auto property = QrPropertyOfReflectors(call);
    const QrPart part = reflectors == a.columns ? kThinFactor : kFullFactor;
    for (size_t i = 0; property != nullptr && i < q.values.size(); ++i)
      call.Attach(0, static_cast<int64_t>(i), property, part, static_cast<int64_t>(i));
  });
}

// target = target (1 - tau v vᴴ), v in column k of `a` from row `first` on.
template <typename S>
void ReflectFromRight(const Matrix<Ball<S>>& matrix, int64_t first, int64_t k, const Ball<S>& tau,
                      Matrix<Ball<S>>& target) {
  for (int64_t i = 0; i < target.rows; ++i) {
    Ball<S> sum = target(i, first);
    for (int64_t j = first + 1; j < target.columns; ++j) sum = sum + target(i, j) * matrix(j, k);
    sum = sum * tau;
    target(i, first) = target(i, first) - sum;
    for (int64_t j = first + 1; j < target.columns; ++j)
      target(i, j) = target(i, j) - sum * Conjugate(matrix(j, k));
  }
}

// Adds c u |a| to the radius of every element.
template <typename E, typename M>
void AddMatrixResidual(const MatrixCall<E>& call, M& a) {
  using W = typename MatrixCall<E>::W;
  W squares = 0;
  for (const auto& x : a.values) squares += x.Modulus() * x.Modulus();
  for (auto& x : a.values) x.radius += call.Residual(4 * (a.rows + a.columns)) * std::sqrt(squares);
}

// a becomes qᴴ a q with zeros below the first subdiagonal, where the reflectors are stored; only
// rows and columns in [first, last) take part.
template <typename S>
std::vector<Ball<S>> ReduceToHessenberg(Matrix<Ball<S>>& matrix, int64_t first, int64_t last,
                                        bool& ambiguous) {
  using M = Matrix<Ball<S>>;
  std::vector<Ball<S>> taus(static_cast<size_t>(std::max<int64_t>(matrix.rows - 1, 0)));
  const int64_t n = matrix.rows;
  for (int64_t k = first; k + 1 < last; ++k) {
    // The reflector acts on rows before `last` only.
    M column(last, 1);
    for (int64_t i = 0; i < last; ++i) column(i, 0) = matrix(i, k);
    taus[k] = MakeReflector(column, k + 1, 0, ambiguous);
    for (int64_t i = k + 1; i < last; ++i) matrix(i, k) = column(i, 0);
    M rows(last, n), columns(last, last);
    for (int64_t i = 0; i < last; ++i)
      for (int64_t j = 0; j < n; ++j) rows(i, j) = matrix(i, j);
    Reflect(column, k + 1, 0, Conjugate(taus[k]), rows, k + 1);
    for (int64_t i = 0; i < last; ++i)
      for (int64_t j = k + 1; j < n; ++j) matrix(i, j) = rows(i, j);
    for (int64_t i = 0; i < last; ++i)
      for (int64_t j = 0; j < last; ++j) columns(i, j) = matrix(i, j);
    ReflectFromRight(column, k + 1, 0, taus[k], columns);
    for (int64_t i = 0; i < last; ++i)
      for (int64_t j = k + 1; j < last; ++j) matrix(i, j) = columns(i, j);
  }
  return taus;
}

// (a) -> (Hessenberg form with the reflectors below it, tau, info).
absl::StatusOr<Value> ApplyGehrd(Interpreter& interpreter, const OpContext& op) {
  const Shape& shape = op.literal(0).shape();
  const int64_t n = shape.rank() == 0 ? 0 : shape.dimensions().back();
  const int64_t low = ConfigInteger(op, "low").value_or(1);
  const int64_t high = ConfigInteger(op, "high").value_or(n);
  if (low < 1 || high > n || low > high + 1) {
    return MakeError(ErrorClass::kUnsupported, StrCat(op.instruction.name(), ": rows ", low, " to ",
                                                      high, " are not in a matrix of order ", n));
  }
  return ForEachMatrix(interpreter, op, 2, [low, high](auto call) {
    auto a = call.Read(0, decltype(call)::ResidualSize::kByNorm);
    if (call.results.bounds) AddMatrixResidual(call, a);
    bool ambiguous = false;
    const auto taus = ReduceToHessenberg(a, low - 1, high, ambiguous);
    if (ambiguous && call.results.bounds) return call.UndecideAll();
    call.Write(0, a);
    for (size_t k = 0; k < taus.size(); ++k) call.Set(1, static_cast<int64_t>(k), taus[k]);
    call.SetInteger(2, 0, 0);
  });
}

// The positions of the results of sytrd.
enum TridiagonalResult : int64_t {
  kPacked,
  kMainDiagonal,
  kOffDiagonal,
  kTridiagonalTaus,
  kReductionInfo
};

// (a) -> (a with the reflectors in its triangle, diagonal, off-diagonal, tau, info) of a Hermitian
// matrix of which one triangle is read. The upper one is the lower one counted backwards.
absl::StatusOr<Value> ApplySytrd(Interpreter& interpreter, const OpContext& op) {
  const bool lower = HasOption(op, "uplo", 'L');
  return ForEachMatrix(interpreter, op, 2, [lower](auto call) {
    using S = typename decltype(call)::S;
    using W = typename decltype(call)::W;
    auto packed = call.ReadExactly(0);  // the other triangle stays as it is
    auto given = packed;
    call.Choose(given, decltype(call)::ResidualSize::kByNorm);
    const int64_t n = given.rows;
    auto place = [&](int64_t i) { return lower ? i : n - 1 - i; };
    auto a = given;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        a(i, j) = given(place(i), place(j));
        a(j, i) = Conjugate(a(i, j));
      }
      a(i, i).centre = S(RealPart(a(i, i).centre));
    }
    if (call.results.bounds) AddMatrixResidual(call, a);
    bool ambiguous = false;
    const auto taus = ReduceToHessenberg(a, 0, n, ambiguous);
    if (ambiguous && call.results.bounds) return call.UndecideAll();
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) packed(place(i), place(j)) = a(i, j);
    auto real = [](const auto& x) { return Ball<W>(RealPart(x.centre), x.radius); };
    for (int64_t i = 0; i < n; ++i) {
      packed(i, i).centre = S(RealPart(packed(i, i).centre));
      call.SetReal(kMainDiagonal, place(i), real(a(i, i)));
      if (i + 1 == n) continue;
      const int64_t at = lower ? i : n - 2 - i;
      call.SetReal(kOffDiagonal, at, real(a(i + 1, i)));
      call.Set(kTridiagonalTaus, at, taus[i]);
    }
    call.Write(kPacked, packed);
    call.SetInteger(kReductionInfo, 0, 0);
  });
}

// (a, columns) -> (R with the reflectors below it, columns, tau). Columns whose entry is not zero
// go first; then every step takes the longest of those that are left.
absl::StatusOr<Value> ApplyGeqp3(Interpreter& interpreter, const OpContext& op) {
  const Literal& chosen = op.literal(1);
  return ForEachMatrix(interpreter, op, 2, [&chosen](auto call) {
    using T = typename decltype(call)::T;
    using W = typename decltype(call)::W;
    auto a = call.Read(0, decltype(call)::ResidualSize::kByNorm);
    if (call.results.bounds) AddColumnResidual(call, a);
    bool ambiguous = false;
    std::vector<int64_t> order;
    for (int64_t j = 0; j < a.columns; ++j) order.push_back(j);
    auto swap = [&](int64_t j, int64_t k) {
      if (j == k) return;
      std::swap(order[j], order[k]);
      for (int64_t i = 0; i < a.rows; ++i) std::swap(a(i, j), a(i, k));
    };
    int64_t fixed = 0;
    for (int64_t j = 0; j < a.columns; ++j)
      if (chosen.GetInteger(call.batch * a.columns + j) != 0) swap(j, fixed++);
    std::vector<typename decltype(call)::Number> taus;
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
      if (k >= fixed) {
        std::vector<W> lengths, radii;
        for (int64_t j = k; j < a.columns; ++j) {
          W squares = 0, radius = 0;
          for (int64_t i = k; i < a.rows; ++i) {
            squares += a(i, j).Modulus() * a(i, j).Modulus();
            radius += a(i, j).radius;
          }
          lengths.push_back(std::sqrt(squares));
          radii.push_back(radius);
        }
        const auto best = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
        for (size_t j = 0; j < lengths.size(); ++j) {
          // Lengths are updated from step to step, which leaves them right to half of the digits.
          const W slack = lengths[best] * 4 * std::sqrt(UnitRoundoff<T>());
          if (static_cast<int64_t>(j) != best &&
              lengths[j] + radii[j] + slack >= lengths[best] - radii[best] && lengths[best] > 0)
            ambiguous = true;
        }
        swap(k, k + best);
      }
      taus.push_back(MakeReflector(a, k, k, ambiguous));
      Reflect(a, k, k, Conjugate(taus.back()), a, k + 1);
    }
    if (ambiguous && call.results.bounds) return call.UndecideAll();
    call.Write(0, a);
    for (size_t j = 0; j < order.size(); ++j)
      call.SetInteger(1, static_cast<int64_t>(j), order[j] + 1);
    for (size_t k = 0; k < taus.size(); ++k) call.Set(2, static_cast<int64_t>(k), taus[k]);
  });
}

// (reflectors, tau, c) -> q c, qᴴ c, c q or c qᴴ.
absl::StatusOr<Value> ApplyOrmqr(Interpreter& interpreter, const OpContext& op) {
  const bool left = HasFlag(op, "left"), adjoint = HasFlag(op, "transpose");
  const Shape &reflectors = op.literal(0).shape(), &shape = op.shape;
  const int64_t order = reflectors.dimension(reflectors.rank() - 2);
  if (shape.IsTuple() || shape.rank() < 2 ||
      shape.dimension(shape.rank() - (left ? 2 : 1)) != order) {
    return MakeError(ErrorClass::kUnsupported, StrCat(op.instruction.name(), ": a factor of order ",
                                                      order, " does not multiply operand 2"));
  }
  return ForEachMatrix(interpreter, op, 2, [left, adjoint](auto call) {
    using W = typename decltype(call)::W;
    const auto a = call.ReadExactly(0);
    auto c = call.Read(2);
    if (call.results.bounds) {
      W squares = 0;
      for (const auto& x : c.values) squares += x.Modulus() * x.Modulus();
      const W residual = call.Residual(4 * (a.rows + a.columns + c.columns)) * std::sqrt(squares);
      for (auto& x : c.values) x.radius += residual;
    }
    const int64_t count = std::min(call.Columns(1), a.columns);
    for (int64_t step = 0; step < count; ++step) {
      // q = h0 h1 ...: the factor beside c comes first.
      const int64_t k = left == adjoint ? step : count - 1 - step;
      const auto tau = adjoint ? Conjugate(call.At(1, k)) : call.At(1, k);
      // v begins with a one that is not stored: the element in its place belongs to another factor.
      if (left) {
        Reflect(a, k, k, tau, c, 0);
      } else {
        ReflectFromRight(a, k, k, tau, c);
      }
    }
    call.Write(0, c);
  });
}

}  // namespace

absl::Span<const CustomCallTarget> ReflectorTargets() {
  static constexpr CustomCallTarget kRows[] = {
      {.name = "geqrf", .apply = ApplyGeqrf, .signature = "mn > mn, k"},
      {.name = "orgqr", .apply = ApplyOrgqr, .signature = "mn, t > mn"},
      {.name = "ungqr", .apply = ApplyOrgqr, .signature = "mn, t > mn"},
      {.name = "geqp3", .apply = ApplyGeqp3, .signature = "mn, n:i > mn, n:i, k"},
      {.name = "gehrd", .apply = ApplyGehrd, .signature = "nn > nn, j, :i"},
      {.name = "sytrd",
       .apply = ApplySytrd,
       .signature = "nn > nn, n:r, j:r, j, :i",
       .options = "uplo"},
      {.name = "hetrd",
       .apply = ApplySytrd,
       .signature = "nn > nn, n:r, j:r, j, :i",
       .options = "uplo"},
      {.name = "ormqr",
       .apply = ApplyOrmqr,
       .signature = "xy, t, mn > mn",
       .options = "left transpose"},
      {.name = "unmqr",
       .apply = ApplyOrmqr,
       .signature = "xy, t, mn > mn",
       .options = "left transpose"},
      {.name = "Qr", .apply = ApplyGeqrf, .signature = "mn > mn, k"},
      {.name = "QrDecomposition", .apply = ApplyGeqrf, .signature = "mn > mn, k"},
      {.name = "ProductOfElementaryHouseholderReflectors",
       .apply = ApplyOrgqr,
       .signature = "mn, t > mn"},
  };
  return kRows;
}

}  // namespace assay::reference
