// Bounds of cholesky and triangular-solve. A legal result is the exact result of operands that are
// off by no more than their own uncertainty and the residual which the contract grants (operation
// semantics chapter 11, class RESID): whatever the order of the additions and the blocking. From
// that a radius for each element follows by perturbation theory.
#include <algorithm>

#include "reference/bounds/elements.h"
#include "reference/linear_algebra.h"

namespace assay::reference {
namespace {

// An operand's matrix: what it is over the reals, and how far each element may be from that.
template <typename W>
struct Operand {
  Matrix<W> centre, radius;
  bool finite = true;

  Operand(int64_t rows, int64_t columns) : centre(rows, columns), radius(rows, columns) {}
  void Set(int64_t i, int64_t j, const Range<W>& x) {
    centre(i, j) = x.centre;
    radius(i, j) = x.radius;
    finite = finite && (x.flags & ~uint32_t{kZeroSignFree}) == 0;
  }
};

// |l^-1|, rounded up, of a lower triangular l without zeros on its diagonal.
template <typename W>
Matrix<W> AbsoluteInverse(const Matrix<W>& l) {
  const int64_t n = l.rows;
  Matrix<W> inverse(n, n), bound(n, n);
  for (int64_t i = 0; i < n; ++i) inverse(i, i) = 1;
  SolveLower(l, inverse);
  // Its own error is of the form |l^-1| |l| |l^-1| (Higham, Accuracy and Stability, 14.2).
  Matrix<W> product(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t k = j; k <= i; ++k)
        product(i, j) += std::fabs(l(i, k)) * std::fabs(inverse(k, j));
  const W slop = static_cast<W>(4 * (n + 2)) * kSlop<W>;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W error = 0;
      for (int64_t k = j; k <= i; ++k) error += std::fabs(inverse(i, k)) * product(k, j);
      bound(i, j) = std::fabs(inverse(i, j)) * (1 + slop) + slop * error;
    }
  }
  return bound;
}

// An absolute error that products and quotients near zero may have.
template <typename T>
Wide<T> Underflow(const Freedoms& freedoms) {
  return freedoms.flush ? Tiny<T>() : UlpAt<T>(0);
}

void SetUndecided(Array& result, int64_t first, int64_t count) {
  for (int64_t i = first; i < first + count; ++i) SetUndecided(result, i);
}

// ---- cholesky.

// 4 (n + 2) u, of the residual in units of |L| |Lᴴ|; for the types that are computed in f32, 8 u.
template <typename T>
Wide<T> CholeskyResidual(int64_t n) {
  return UnitRoundoff<T>() * (kIsNarrow<T> ? 8 : static_cast<Wide<T>>(4 * (n + 2)));
}

// Whether no legal perturbation makes `a` positive definite, when the factorisation stopped at
// column `stop`: a vector v with vᵀ a v = the pivot shows it.
template <typename T, typename W>
bool IsSurelyIndefinite(const Operand<W>& a, const Matrix<W>& l, int64_t stop) {
  std::vector<W> v(static_cast<size_t>(stop + 1));
  v[stop] = 1;
  for (int64_t i = stop; i-- > 0;) {
    W rest = -l(stop, i);
    for (int64_t k = i + 1; k < stop; ++k) rest -= l(k, i) * v[k];
    v[i] = rest / l(i, i);
  }
  W slack = 0;
  for (int64_t i = 0; i <= stop; ++i) {
    for (int64_t j = 0; j <= stop; ++j) {
      const W residual = CholeskyResidual<T>(a.centre.rows) *
                         std::sqrt(std::fabs(a.centre(i, i)) * std::fabs(a.centre(j, j)));
      slack +=
          std::fabs(v[i]) * std::fabs(v[j]) * (residual + a.radius(std::max(i, j), std::min(i, j)));
    }
  }
  return l(stop, stop) + 2 * slack < 0;
}

// How far each element of the factor may be off: with G = |L^-1| |dA| |L^-ᵀ| and |G| < 1, no more
// than |L| tril(G (1 - G)^-1) (Sun; Higham, theorem 10.8). False when dA is too large.
template <typename T, typename W>
bool PerturbationOfFactor(const Operand<W>& a, const Matrix<W>& l, W underflow, Matrix<W>& error) {
  const int64_t n = l.rows;
  const Matrix<W> inverse = AbsoluteInverse(l);
  Matrix<W> change(n, n), half(n, n), g(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W product = 0;
      for (int64_t k = 0; k <= j; ++k) product += std::fabs(l(i, k)) * std::fabs(l(j, k));
      change(i, j) = change(j, i) =
          CholeskyResidual<T>(n) * product + a.radius(i, j) + static_cast<W>(n + 1) * underflow;
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
      for (int64_t k = j; k <= i; ++k) error(i, j) += std::fabs(l(i, k)) * (g(k, j) + tail);
  return true;
}

template <typename T>
void BoundFactor(const OpContext& op, Array& result) {
  using W = Wide<T>;
  const CholeskyFactor factor(op);
  const int64_t n = factor.order;
  for (int64_t batch = 0; batch < factor.batches; ++batch) {
    const int64_t first = batch * n * n;
    Operand<W> a(n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        a.Set(i, j, Seen<T>(op.freedoms, op.array(0), first + factor.At(i, j)));
    Matrix<W> l(n, n), error(n, n);
    const int64_t columns = a.finite ? FactorCholesky(a.centre, l) : 0;
    // What becomes of a matrix that is not positive definite is the implementation's business in
    // profile xla (measured: XLA:CPU fills the triangle or the matrix with NaN).
    if (a.finite && columns < n && !op.freedoms.xla_budgets && IsSurelyIndefinite<T>(a, l, columns))
      continue;  // NaN
    if (!a.finite || columns < n ||
        !PerturbationOfFactor<T>(a, l, Underflow<T>(op.freedoms), error)) {
      SetUndecided(result, first, n * n);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        FinishExact<T>(op.freedoms, result, first + factor.At(i, j),
                       WithOverflow<T>({l(i, j), error(i, j) + std::fabs(l(i, j)) * kSlop<W>, 0}));
        // The other triangle: zeros here, whatever an implementation finds there elsewhere.
        if (i != j && op.freedoms.xla_budgets) SetUndecided(result, first + factor.At(j, i));
      }
    }
  }
}

// ---- triangular-solve.

// The radii of the solutions of one system: with the residual r(x) = c (|l| |x| + |b|) + |dl| |x| +
// |db|, any legal x lies within |l^-1| r(x) of the exact one. False when the residual is too large
// to say.
template <typename T, typename W>
bool RadiiOfSolution(const Operand<W>& l, const Matrix<W>& inverse, const Operand<W>& b,
                     const Matrix<W>& x, int64_t column, W underflow, std::vector<W>& radii) {
  const int64_t n = x.rows;
  const W c = static_cast<W>(4 * (n + 2)) * UnitRoundoff<T>();
  std::vector<W> residual(static_cast<size_t>(n)), weight(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    residual[i] = c * std::fabs(b.centre(i, column)) + b.radius(i, column) +
                  static_cast<W>(n + 2) * underflow;
    for (int64_t j = 0; j <= i; ++j) {
      const W change = c * std::fabs(l.centre(i, j)) + l.radius(i, j);
      residual[i] += change * std::fabs(x(j, column));
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
    radii[i] += std::fabs(x(i, column)) * static_cast<W>(n + 2) * kSlop<W>;
    growth = std::max(growth, sum);
    largest = std::max(largest, radii[i]);
  }
  if (!(growth < W{0.5})) return false;
  for (W& radius : radii) radius += largest * growth / (1 - growth);
  return true;
}

template <typename T>
void BoundSolutions(const OpContext& op, Array& result) {
  using W = Wide<T>;
  const TriangularSystem system(op);
  const int64_t n = system.order, columns = system.solutions;
  std::vector<W> radii(static_cast<size_t>(n));
  for (int64_t batch = 0; batch < system.batches; ++batch) {
    const int64_t first_a = batch * n * n, first_b = batch * n * columns;
    Operand<W> l(n, n), b(n, columns);
    bool regular = true;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j)
        l.Set(i, j, Seen<T>(op.freedoms, op.array(0), first_a + system.InA(i, j)));
      l.Set(i, i,
            system.unit_diagonal ? Range<W>{1, 0, 0}
                                 : Seen<T>(op.freedoms, op.array(0), first_a + system.InA(i, i)));
      regular = regular && std::fabs(l.centre(i, i)) > l.radius(i, i);
    }
    if (!l.finite || !regular) {
      SetUndecided(result, first_b, n * columns);
      continue;
    }
    const Matrix<W> inverse = AbsoluteInverse(l.centre);
    for (int64_t c = 0; c < columns; ++c) {
      b.finite = true;
      for (int64_t i = 0; i < n; ++i)
        b.Set(i, c, Seen<T>(op.freedoms, op.array(1), first_b + system.InB(i, c)));
      Matrix<W> x(n, 1);
      for (int64_t i = 0; i < n; ++i) x(i, 0) = b.centre(i, c);
      SolveLower(l.centre, x);
      Operand<W> side(n, 1);
      for (int64_t i = 0; i < n; ++i) side.Set(i, 0, {b.centre(i, c), b.radius(i, c), 0});
      const bool known =
          b.finite && RadiiOfSolution<T>(l, inverse, side, x, 0, Underflow<T>(op.freedoms), radii);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = first_b + system.InB(i, c);
        if (known) {
          FinishExact<T>(op.freedoms, result, at, WithOverflow<T>({x(i, 0), radii[i], 0}));
        } else {
          SetUndecided(result, at);
        }
      }
    }
  }
}

}  // namespace

absl::Status BoundCholesky(const OpContext& op, Array& result) {
  DispatchReal(op.type(), [&](auto tag) { BoundFactor<typename decltype(tag)::type>(op, result); });
  return absl::OkStatus();
}

absl::Status BoundTriangularSolve(const OpContext& op, Array& result) {
  DispatchReal(op.type(),
               [&](auto tag) { BoundSolutions<typename decltype(tag)::type>(op, result); });
  return absl::OkStatus();
}

}  // namespace assay::reference
