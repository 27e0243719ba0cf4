// Bounds of cholesky and triangular-solve. A legal result is the exact result of operands that are
// off by no more than their own uncertainty and the residual which the contract grants (operation
// semantics chapter 11, class RESID): whatever the order of the additions and the blocking. From
// that a radius for each element follows by perturbation theory.
#include "reference/bounds/linear_algebra.h"

#include <algorithm>

#include "reference/bounds/components.h"
#include "reference/bounds/elements.h"

namespace assay::reference {
namespace {

// An operand's matrix: what it is over the numbers, and how far each element may be from that.
template <typename S>
struct Operand {
  using W = decltype(std::abs(S()));
  Matrix<S> centre;
  Matrix<W> radius;
  bool finite = true;

  Operand(int64_t rows, int64_t columns) : centre(rows, columns), radius(rows, columns) {}
};

// Reads the elements of an operand as numbers of type S with T parts, and writes bounds by element.
template <typename E>
class Elements {
 public:
  using S = typename Scalar<E>::WideNumber;
  using T = typename Scalar<E>::Real;
  using W = Wide<T>;
  static constexpr bool kComplex = !std::is_same_v<E, T>;

  Elements(const OpContext& op, int64_t k)
      : clauses_(op.clauses), parts_(kComplex ? Components(op.array(k)) : op.array(k)) {}

  // Element `at`, its value passed through `map`, becomes element (i, j).
  template <typename Map>
  void Read(int64_t at, int64_t i, int64_t j, Operand<S>& to, Map map) const {
    if constexpr (kComplex) {
      const Range<W> re = Part(2 * at, to), im = Part(2 * at + 1, to);
      to.centre(i, j) = map(S(re.centre, im.centre));
      to.radius(i, j) = re.radius + im.radius;
    } else {
      const Range<W> x = Part(at, to);
      to.centre(i, j) = x.centre;
      to.radius(i, j) = x.radius;
    }
  }

 private:
  Range<W> Part(int64_t slot, Operand<S>& to) const {
    const Range<W> x = Seen<T>(clauses_, parts_, slot);
    to.finite = to.finite && (x.flags & ~uint32_t{kZeroSignFree}) == 0;
    return x;
  }

  ClauseSet clauses_;
  const Array parts_;
};

// Element `at` lies within `radius` of `centre`.
template <typename E, typename S, typename W>
void Finish(const OpContext& op, Array& result, int64_t at, S centre, W radius) {
  using T = typename Scalar<E>::Real;
  if constexpr (std::is_same_v<E, T>) {
    FinishExact<T>(op.clauses, result, at, WithOverflow<T>({centre, radius, 0}));
  } else {
    FinishExact<T>(op.clauses, result, 2 * at, WithOverflow<T>({centre.real(), radius, 0}));
    FinishExact<T>(op.clauses, result, 2 * at + 1, WithOverflow<T>({centre.imag(), radius, 0}));
  }
}

// Gives |l^-1|, rounded up, for a lower triangular l without zeros on its diagonal.
template <typename S>
auto AbsoluteInverse(const Matrix<S>& factor) {
  using W = decltype(std::abs(S()));
  const int64_t n = factor.rows;
  Matrix<S> inverse(n, n);
  Matrix<W> bound(n, n);
  for (int64_t i = 0; i < n; ++i) inverse(i, i) = 1;
  SolveLower(factor, inverse);
  // Its own error is of the form |l^-1| |l| |l^-1| (Higham, Accuracy and Stability, 14.2).
  Matrix<W> product(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t k = j; k <= i; ++k)
        product(i, j) += std::abs(factor(i, k)) * std::abs(inverse(k, j));
  const W slop = static_cast<W>(4 * (n + 2)) * kSlop<W>;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W error = 0;
      for (int64_t k = j; k <= i; ++k) error += std::abs(inverse(i, k)) * product(k, j);
      bound(i, j) = std::abs(inverse(i, j)) * (1 + slop) + slop * error;
    }
  }
  return bound;
}

// An absolute error that products and quotients near zero may have.
template <typename T>
Wide<T> Underflow(ClauseSet clauses) {
  return clauses.Has(ClauseId::kFlushSubnormals) ? Tiny<T>() : UlpAt<T>(0);
}

void SetUndecided(Array& result, int64_t first, int64_t count) {
  for (int64_t i = first; i < first + count; ++i) SetUndecided(result, i);
}

// ---- cholesky.

// The granted residual in units of |L| |Lᴴ|: every step may be rounded to the type, also to those
// that may be computed in f32.
template <typename T>
Wide<T> CholeskyResidual(int64_t n) {
  return UnitRoundoff<T>() * static_cast<Wide<T>>(4 * (n + 2));
}

// True if no legal perturbation makes `a` positive definite, when the factorisation stopped at
// column `stop`: a vector v with vᴴ a v = the pivot shows it.
template <typename T, typename S>
bool IsSurelyIndefinite(const Operand<S>& operand, const Matrix<S>& factor, int64_t stop) {
  using W = Wide<T>;
  std::vector<S> v(static_cast<size_t>(stop + 1));
  v[stop] = 1;
  for (int64_t i = stop; i-- > 0;) {
    S rest = -Conjugate(factor(stop, i));
    for (int64_t k = i + 1; k < stop; ++k) rest -= Conjugate(factor(k, i)) * v[k];
    v[i] = rest / factor(i, i);
  }
  W slack = 0;
  for (int64_t i = 0; i <= stop; ++i) {
    for (int64_t j = 0; j <= stop; ++j) {
      const W residual = CholeskyResidual<T>(operand.centre.rows) *
                         std::sqrt(std::abs(operand.centre(i, i)) * std::abs(operand.centre(j, j)));
      slack += std::abs(v[i]) * std::abs(v[j]) *
               (residual + operand.radius(std::max(i, j), std::min(i, j)));
    }
  }
  return RealPart(factor(stop, stop)) + 2 * slack < 0;
}

// The error that each element of the factor may have: with G = |L^-1| |dA| |L^-ᵀ| and |G| < 1, no
// more than |L| tril(G (1 - G)^-1) (Sun; Higham, theorem 10.8). False when dA is too large.
template <typename T, typename S>
bool PerturbationOfFactor(const Operand<S>& operand, const Matrix<S>& factor, Wide<T> underflow,
                          Matrix<Wide<T>>& error) {
  using W = Wide<T>;
  const int64_t n = factor.rows;
  const Matrix<W> inverse = AbsoluteInverse(factor);
  Matrix<W> change(n, n), half(n, n), g(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W product = 0;
      for (int64_t k = 0; k <= j; ++k) product += std::abs(factor(i, k)) * std::abs(factor(j, k));
      change(i, j) = change(j, i) = CholeskyResidual<T>(n) * product + operand.radius(i, j) +
                                    static_cast<W>(n + 1) * underflow;
    }
  }
  W norm = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k <= i; ++k) half(i, j) += inverse(i, k) * change(k, j);
  for (int64_t i = 0; i < n; ++i) {
    W row = 0;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k <= j; ++k) g(i, j) += half(i, k) * inverse(j, k);
      row += g(i, j);
      largest = std::max(largest, g(i, j));
    }
    norm = std::max(norm, row);
  }
  if (!(norm < W{0.5})) return false;
  // G (1 - G)^-1 = G + G² + ...
  const W tail = largest * norm / (1 - norm);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t k = j; k <= i; ++k) error(i, j) += std::abs(factor(i, k)) * (g(k, j) + tail);
  return true;
}

// True if every legal factorisation of `a` ends: it does when a smaller matrix has a factor too
// (Demmel; Higham, theorem 10.7).
template <typename T, typename S>
bool IsSurelyDefinite(const Operand<S>& operand) {
  using W = Wide<T>;
  const int64_t n = operand.centre.rows;
  Matrix<S> smaller = operand.centre, l(n, n);
  for (int64_t i = 0; i < n; ++i) {
    W change = 2 * static_cast<W>(n) * CholeskyResidual<T>(n) * std::abs(operand.centre(i, i));
    for (int64_t j = 0; j < n; ++j) change += operand.radius(std::max(i, j), std::min(i, j));
    smaller(i, i) -= change;
  }
  return FactorCholesky(smaller, l) == n;
}

// The property of the triangle of l by rows: l lᴴ is a, up to the residual that is granted; or
// there is no factor, which NaN says.
template <typename E, typename S>
std::shared_ptr<const Property> FactorProperty(ElementType type, const Operand<S>& operand,
                                               bool lower,
                                               Wide<typename Scalar<E>::Real> underflow) {
  using T = typename Scalar<E>::Real;
  using W = Wide<T>;
  const int64_t n = operand.centre.rows;
  auto property = std::make_shared<Property>();
  property->what = "a = l lᴴ";
  property->parts = {Shape::Array(type, {n * (n + 1) / 2})};
  property->violation = [operand, lower, underflow, may_fail = !IsSurelyDefinite<T>(operand)](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>&) -> std::string {
    const int64_t n = operand.centre.rows;
    const absl::Span<const E> packed = parts[0].data<E>();
    auto excused = [may_fail](S x) { return may_fail && std::isnan(std::abs(x)); };
    Matrix<S> l(n, n);
    for (int64_t i = 0, at = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j, ++at)
        l(i, j) = lower ? WidenNumber(packed[at]) : Conjugate(WidenNumber(packed[at]));
      // A pivot may be as small as underflows where rounding alone keeps the matrix definite.
      const bool positive = RealPart(l(i, i)) > 0 || (may_fail && RealPart(l(i, i)) == 0);
      if (!positive && !excused(l(i, i))) return "the diagonal of l is not positive";
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        S rest = operand.centre(i, j);
        W size = 0;
        for (int64_t k = 0; k <= j; ++k) {
          const S term = l(i, k) * Conjugate(l(j, k));
          rest -= term;
          size += std::abs(term);
        }
        const W slack = CholeskyResidual<T>(n) * size + operand.radius(i, j) +
                        static_cast<W>(n + 1) * underflow;
        if (!(std::abs(rest) <= slack) && !excused(rest)) return "l lᴴ is not a";
      }
    }
    return "";
  };
  return property;
}

// True if the judge finds all radii useful: up to 2^(-p/3) of the larger of the element and the
// root mean square of the whole.
template <typename T, typename S>
bool AreUseful(const Matrix<S>& factor, const Matrix<Wide<T>>& error) {
  using W = Wide<T>;
  W squares = 0;
  for (const S& x : factor.values) squares += std::abs(x) * std::abs(x);
  const W mean = std::sqrt(squares / static_cast<W>(std::max<size_t>(factor.values.size(), 1)));
  for (size_t i = 0; i < factor.values.size(); ++i)
    if (!(error.values[i] <=
          std::cbrt(UnitRoundoff<T>()) * std::max(std::abs(factor.values[i]), mean)))
      return false;
  return true;
}

template <typename E>
void BoundFactor(const OpContext& op, bool lower, Array& result) {
  using S = typename Scalar<E>::WideNumber;
  using T = typename Scalar<E>::Real;
  using W = Wide<T>;
  const CholeskyFactor factor(op, lower);
  const Elements<E> elements(op, 0);
  const int64_t n = factor.order;
  for (int64_t batch = 0; batch < factor.batches; ++batch) {
    const int64_t first = batch * n * n;
    Operand<S> a(n, n);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j)
        elements.Read(first + factor.At(i, j), i, j, a,
                      [&](S x) { return i == j ? S(RealPart(x)) : factor.OfUpper(x); });
    }
    Matrix<S> l(n, n);
    Matrix<W> error(n, n);
    const int64_t columns = a.finite ? FactorCholesky(a.centre, l) : 0;
    // Profile xla leaves the result for a matrix that is not positive definite to the
    // implementation (operation semantics, chapter 11).
    if (a.finite && columns < n && !op.analysis.is_xla && IsSurelyIndefinite<T>(a, l, columns))
      continue;  // NaN
    const bool known =
        columns == n && PerturbationOfFactor<T>(a, l, Underflow<T>(op.clauses), error);
    if (a.finite && !(known && AreUseful<T>(l, error))) {
      SetUndecided(result, first, n * n);
      const auto property = FactorProperty<E>(op.type(), a, lower, Underflow<T>(op.clauses));
      for (int64_t i = 0, at = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j, ++at)
          result.facts().origins.insert_or_assign(first + factor.At(i, j), Origin{property, 0, at});
    }
    if (!known) {
      SetUndecided(result, first, n * n);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        Finish<E>(op, result, first + factor.At(i, j), factor.OfUpper(l(i, j)),
                  error(i, j) + std::abs(l(i, j)) * kSlop<W>);
        // The other triangle holds zeros here; an implementation may leave anything there.
        if (i != j && op.analysis.is_xla) SetUndecided(result, first + factor.At(j, i));
      }
    }
  }
}

// ---- triangular-solve.

// The radii of the solutions of one system: with the residual r(x) = c (|l| |x| + |b|) + |dl| |x| +
// |db|, any legal x lies within |l^-1| r(x) of the exact one. False when the residual is too large
// to say.
template <typename T, typename S>
bool RadiiOfSolution(const Operand<S>& l, const Matrix<Wide<T>>& inverse, const Operand<S>& b,
                     const Matrix<S>& solution, Wide<T> underflow, std::vector<Wide<T>>& radii) {
  using W = Wide<T>;
  const int64_t n = solution.rows;
  const W c = static_cast<W>(4 * (n + 2)) * UnitRoundoff<T>();
  std::vector<W> residual(static_cast<size_t>(n)), weight(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    residual[i] = c * std::abs(b.centre(i, 0)) + b.radius(i, 0) + static_cast<W>(n + 2) * underflow;
    W terms = std::abs(b.centre(i, 0));
    for (int64_t j = 0; j <= i; ++j) terms += std::abs(l.centre(i, j)) * std::abs(solution(j, 0));
    // A partial sum may not fit the type though the solution does.
    if (!(terms < 1 / Tiny<T>())) return false;
    for (int64_t j = 0; j <= i; ++j) {
      const W change = c * std::abs(l.centre(i, j)) + l.radius(i, j);
      // A solution near zero is off by that much itself, however large what divides it.
      residual[i] += change * std::abs(solution(j, 0)) + std::abs(l.centre(i, j)) * underflow;
      weight[i] += change;
    }
  }
  W growth = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    W sum = 0;
    radii[i] = 0;
    for (int64_t k = 0; k <= i; ++k) {
      radii[i] += inverse(i, k) * residual[k];
      sum += inverse(i, k) * weight[k];
    }
    // One of the terms is rounded even when it is exact to the last bit of W.
    radii[i] += std::abs(solution(i, 0)) * static_cast<W>(n + 2) * kSlop<W>;
    growth = std::max(growth, sum);
    largest = std::max(largest, radii[i]);
  }
  if (!(growth < W{0.5})) return false;
  for (W& radius : radii) radius += largest * growth / (1 - growth);
  return true;
}

// A solution that was seen is right if l x is near b, up to the residual that is granted, however
// far it may be from the exact one. It is asked of captured values alone. One of blocks that were
// inverted need not have that property and may still lie within its bound: so that it is open then,
// not wrong, the exact solution counts as a part, of which nobody sees anything.
template <typename E, typename S>
std::shared_ptr<const Property> SolutionProperty(ElementType type,
                                                 std::shared_ptr<const Operand<S>> l, Operand<S> b,
                                                 Wide<typename Scalar<E>::Real> underflow) {
  using T = typename Scalar<E>::Real;
  using W = Wide<T>;
  auto property = std::make_shared<Property>();
  property->what = "l x = b";
  property->only_seen = true;
  property->parts = {Shape::Array(type, {b.centre.rows}), Shape::Array(type, {b.centre.rows})};
  property->violation = [l = std::move(l), b = std::move(b), underflow](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>& present) -> std::string {
    if (!present[0]) return "not all of x was seen";
    const absl::Span<const E> x = parts[0].data<E>();
    const int64_t n = b.centre.rows;
    const W c = static_cast<W>(4 * (n + 2)) * UnitRoundoff<T>();
    for (int64_t i = 0; i < n; ++i) {
      S rest = b.centre(i, 0);
      W slack = c * std::abs(rest) + b.radius(i, 0) + static_cast<W>(n + 2) * underflow;
      for (int64_t j = 0; j <= i; ++j) {
        const S seen = WidenNumber(x[j]);
        rest -= l->centre(i, j) * seen;
        slack += (c * std::abs(l->centre(i, j)) + l->radius(i, j)) * std::abs(seen) +
                 std::abs(l->centre(i, j)) * underflow;
      }
      if (!(std::abs(rest) <= slack)) return "l x is not b";
    }
    return "";
  };
  return property;
}

// True if the judge finds all radii useful by the elements alone.
template <typename T, typename S>
bool AreUseful(const Matrix<S>& solution, absl::Span<const Wide<T>> radii) {
  for (size_t i = 0; i < radii.size(); ++i)
    if (!(radii[i] <= std::cbrt(UnitRoundoff<T>()) * std::abs(solution.values[i]))) return false;
  return true;
}

// True if a divisor has a reciprocal that no implementation loses: solvers divide all columns by
// one number, which may be made by its reciprocal, and that be flushed; of complex numbers the
// documents leave quotients by others open.
template <typename E>
bool DividesSafely(const OpContext& op, Wide<typename Scalar<E>::Real> modulus) {
  using T = typename Scalar<E>::Real;
  if constexpr (std::is_same_v<E, T>) {
    const bool may_flush = op.clauses.Has(ClauseId::kReciprocalDivision) &&
                           op.clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T>;
    return !may_flush || 1 / modulus >= Tiny<T>();
  } else {
    return IsModerate<T>(modulus);
  }
}

template <typename E>
void BoundSolutions(const OpContext& op, const TriangularSystem& system, Array& result) {
  using S = typename Scalar<E>::WideNumber;
  using T = typename Scalar<E>::Real;
  using W = Wide<T>;
  const Elements<E> of_a(op, 0), of_b(op, 1);
  const int64_t n = system.order, columns = system.solutions;
  std::vector<W> radii(static_cast<size_t>(n));
  for (int64_t batch = 0; batch < system.batches; ++batch) {
    const int64_t first_a = batch * n * n, first_b = batch * n * columns;
    const auto lower = std::make_shared<Operand<S>>(n, n);
    Operand<S>& l = *lower;
    bool regular = true;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i + (system.unit_diagonal ? 0 : 1); ++j)
        of_a.Read(first_a + system.InA(i, j), i, j, l, [&](S x) { return system.OfA(x); });
      if (system.unit_diagonal) l.centre(i, i) = 1;
      const W divisor = std::abs(l.centre(i, i));
      regular = regular && divisor > l.radius(i, i) &&
                (system.unit_diagonal || DividesSafely<E>(op, divisor + l.radius(i, i)));
    }
    if (!l.finite || !regular) {
      SetUndecided(result, first_b, n * columns);
      continue;
    }
    const Matrix<W> inverse = AbsoluteInverse(l.centre);
    for (int64_t c = 0; c < columns; ++c) {
      Operand<S> b(n, 1);
      for (int64_t i = 0; i < n; ++i)
        of_b.Read(first_b + system.InB(i, c), i, 0, b, [](S x) { return x; });
      Matrix<S> x = b.centre;
      if (b.finite) SolveLower(l.centre, x);
      const bool known =
          b.finite && RadiiOfSolution<T>(l, inverse, b, x, Underflow<T>(op.clauses), radii);
      std::shared_ptr<const Property> property;
      if (b.finite && !(known && AreUseful<T>(x, absl::MakeConstSpan(radii)))) {
        property = SolutionProperty<E, S>(op.type(), lower, std::move(b), Underflow<T>(op.clauses));
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = first_b + system.InB(i, c);
        if (known) {
          Finish<E>(op, result, at, x(i, 0), radii[i]);
        } else {
          SetUndecided(result, at);
        }
        if (property != nullptr)
          result.facts().origins.insert_or_assign(at, Origin{property, 0, i});
      }
    }
  }
}

}  // namespace

absl::Status BoundFactors(const OpContext& op, bool lower, Array& result) {
  DispatchNumber(op.type(),
                 [&](auto tag) { BoundFactor<typename decltype(tag)::type>(op, lower, result); });
  return absl::OkStatus();
}

absl::Status BoundSystems(const OpContext& op, const TriangularSystem& system, Array& result) {
  DispatchNumber(op.type(), [&](auto tag) {
    BoundSolutions<typename decltype(tag)::type>(op, system, result);
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
