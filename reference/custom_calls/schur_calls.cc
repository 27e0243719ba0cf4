// Eigenvalues of general matrices and Schur's form, as LAPACK's routines have them, by the QR
// algorithm on complex numbers. Results are judged by their defining property, up to the residual
// of a backward stable algorithm (operation semantics chapter 11, class RESID).
// UNSPECIFIED(operation semantics 14, CustomCall): the order of the eigenvalues, and the vectors up
// to what defines them.
#include "reference/custom_calls/call_options.h"
#include "reference/custom_calls/matrix_ops.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

constexpr int kMostStepsPerEigenvalue = 60;

// The rotation of a pair of rows that makes (x, y) a multiple of (1, 0), and of columns by its
// adjoint.
template <typename C>
struct PairRotation {
  using W = decltype(std::abs(C()));
  C x{1}, y{};

  PairRotation(C first, C second) {
    const W length = std::hypot(std::abs(first), std::abs(second));
    if (length == 0) return;
    x = first / length;
    y = second / length;
  }
  void Rows(Matrix<C>& matrix, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const C a = matrix(p, j), b = matrix(q, j);
      matrix(p, j) = std::conj(x) * a + std::conj(y) * b;
      matrix(q, j) = x * b - y * a;
    }
  }
  void Columns(Matrix<C>& matrix, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const C a = matrix(i, p), b = matrix(i, q);
      matrix(i, p) = a * x + b * y;
      matrix(i, q) = b * std::conj(x) - a * std::conj(y);
    }
  }
};

// The eigenvalue of the last 2 x 2 block that is closer to its last element.
template <typename C>
C WilkinsonShift(const Matrix<C>& triangular, int64_t last) {
  const C a = triangular(last - 1, last - 1), b = triangular(last - 1, last),
          c = triangular(last, last - 1), d = triangular(last, last);
  using W = decltype(std::abs(C()));
  const C half = (a - d) * W{0.5};
  const C root = std::sqrt(half * half + b * c);
  const C sum = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return sum == C{} ? d : d - b * c / sum;
}

// t becomes upper triangular, zᴴ a z for the given a.
template <typename C>
void SchurForm(Matrix<C>& t, Matrix<C>& z) {
  using W = decltype(std::abs(C()));
  const int64_t n = t.rows;
  z = Identity<C>(n);
  auto rotate = [&](int64_t p, int64_t q, const PairRotation<C>& rotation) {
    rotation.Rows(t, p, q);
    rotation.Columns(t, p, q);
    rotation.Columns(z, p, q);
  };
  for (int64_t k = 0; k + 2 < n; ++k) {
    for (int64_t i = n - 1; i > k + 1; --i) {
      if (t(i, k) == C{}) continue;
      rotate(i - 1, i, PairRotation<C>(t(i - 1, k), t(i, k)));
      t(i, k) = C{};
    }
  }
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    int64_t first = last;
    while (first > 0) {
      const W near = std::abs(t(first, first)) + std::abs(t(first - 1, first - 1));
      if (std::abs(t(first, first - 1)) <= near * std::numeric_limits<W>::epsilon() / 2) break;
      --first;
    }
    if (first > 0) t(first, first - 1) = C{};
    if (first == last || ++steps > kMostStepsPerEigenvalue) {
      t(last, last - 1) = C{};
      --last;
      steps = 0;
      continue;
    }
    // An unusual shift now and then leaves cycles.
    const C shift = steps % 10 == 0 ? C(std::abs(t(last, last - 1)) + std::abs(t(last, last)))
                                    : WilkinsonShift(t, last);
    for (int64_t k = first; k < last; ++k) {
      // The bulge moves down: the first rotation is that of the shifted matrix.
      const C x = k == first ? t(k, k) - shift : t(k, k - 1);
      const C y = k == first ? t(k + 1, k) : t(k + 1, k - 1);
      rotate(k, k + 1, PairRotation<C>(x, y));
      if (k > first) t(k + 1, k - 1) = C{};
    }
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) t(i, j) = C{};
}

template <typename C, typename S>
Matrix<C> ToComplex(const Matrix<S>& matrix) {
  Matrix<C> complex(matrix.rows, matrix.columns);
  for (size_t i = 0; i < matrix.values.size(); ++i) complex.values[i] = C(matrix.values[i]);
  return complex;
}

// Eigenvectors of an upper triangular t for its k-th eigenvalue: of t itself, or of its adjoint.
template <typename C>
std::vector<C> TriangularEigenvector(const Matrix<C>& triangular, int64_t k, bool of_adjoint) {
  using W = decltype(std::abs(C()));
  const int64_t n = triangular.rows;
  W largest = std::numeric_limits<W>::min();
  for (const C& x : triangular.values) largest = std::max(largest, std::abs(x));
  std::vector<C> v(static_cast<size_t>(n));
  v[k] = 1;
  auto solve = [&](int64_t i, C sum, C difference) {
    if (std::abs(difference) < largest * std::numeric_limits<W>::epsilon())
      difference = largest * std::numeric_limits<W>::epsilon();
    v[i] = -sum / difference;
  };
  if (of_adjoint) {
    for (int64_t i = k + 1; i < n; ++i) {
      C sum{};
      for (int64_t j = k; j < i; ++j) sum += std::conj(triangular(j, i)) * v[j];
      solve(i, sum, std::conj(triangular(i, i) - triangular(k, k)));
    }
  } else {
    for (int64_t i = k; i-- > 0;) {
      C sum{};
      for (int64_t j = i + 1; j <= k; ++j) sum += triangular(i, j) * v[j];
      solve(i, sum, triangular(i, i) - triangular(k, k));
    }
  }
  return v;
}

// z v, of length one, its largest element real.
template <typename C>
std::vector<C> UnitVector(const Matrix<C>& vector, const std::vector<C>& v) {
  using W = decltype(std::abs(C()));
  std::vector<C> x(v.size());
  W squares = 0;
  C largest{};
  for (int64_t i = 0; i < vector.rows; ++i) {
    for (int64_t j = 0; j < vector.columns; ++j) x[i] += vector(i, j) * v[j];
    squares += std::norm(x[i]);
    if (std::abs(x[i]) > std::abs(largest)) largest = x[i];
  }
  const C factor = std::conj(largest) / (std::abs(largest) * std::sqrt(squares));
  for (C& element : x) element *= factor;
  return x;
}

template <typename S>
auto FrobeniusNorm(const Matrix<S>& matrix) {
  decltype(std::abs(S())) squares = 0;
  for (const S& x : matrix.values) squares += std::norm(std::complex(x));
  return std::sqrt(squares);
}

// True if `values` are together the eigenvalues of some matrix within `tolerance` of a: each value
// w makes a - w nearly singular, and the sums of their powers are the traces of a's powers.
template <typename C, typename W>
bool AreEigenvalues(const Matrix<C>& matrix, const std::vector<C>& values, W tolerance) {
  const int64_t n = matrix.rows;
  for (const C& value : values) {
    Matrix<C> shifted = matrix, v(n, n);
    for (int64_t i = 0; i < n; ++i) shifted(i, i) -= value;
    if (!IsFinite(shifted)) return false;
    OrthogonalizeColumns(shifted, v);
    W least = std::numeric_limits<W>::infinity();
    for (int64_t j = 0; j < n; ++j) {
      W squares = 0;
      for (int64_t i = 0; i < n; ++i) squares += std::norm(shifted(i, j));
      least = std::min(least, std::sqrt(squares));
    }
    if (!(least <= tolerance)) return false;
  }
  const W norm = FrobeniusNorm(matrix) + tolerance;
  Matrix<C> power = matrix;
  std::vector<C> powers = values;
  W allowed = static_cast<W>(n) * tolerance;
  for (int64_t k = 1; k <= n && std::isfinite(allowed); ++k) {
    C trace{}, sum{};
    for (int64_t i = 0; i < n; ++i) {
      trace += power(i, i);
      sum += powers[i];
      powers[i] *= values[i];
    }
    if (!(std::abs(trace - sum) <= static_cast<W>(k) * allowed)) return false;
    power = Product(power, matrix);
    allowed *= norm;
  }
  return true;
}

// The element type that holds eigenvalues.
ElementType ComplexTypeOf(ElementType type) {
  if (IsComplex(type)) return type;
  return type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
}

// Writes eigenvalues to result `at`, an array of complex numbers; calls on real matrices have their
// real parts there and their imaginary parts in the next result.
template <typename Call, typename C>
void SetEigenvalues(Call& call, int64_t at, const std::vector<C>& values) {
  using E = typename Call::Element;
  for (size_t k = 0; k < values.size(); ++k) {
    const auto i = static_cast<int64_t>(k);
    if constexpr (std::is_same_v<E, typename Call::T>) {
      call.SetReal(at, i, {values[k].real(), 0});
      call.SetReal(at + 1, i, {values[k].imag(), 0});
    } else {
      call.Set(at, i, {values[k], 0});
    }
  }
}
template <typename Call>
void JudgeEigenvalues(Call& call, int64_t at, const std::shared_ptr<const Property>& property,
                      int64_t part) {
  if constexpr (std::is_same_v<typename Call::Element, typename Call::T>) {
    call.JudgeByProperty(at, property, part, Origin::kReal);
    call.JudgeByProperty(at + 1, property, part, Origin::kImaginary);
  } else {
    call.JudgeByProperty(at, property, part);
  }
}

// Eigenvalues with the index of the Schur vector; of a real matrix, pairs of conjugates side by
// side, of which the second one has the conjugate of the first one's vectors.
template <typename C>
struct Eigenvalue {
  C value;
  int64_t index;
  bool conjugate = false;
};
template <typename C, typename W>
std::vector<Eigenvalue<C>> OrderedEigenvalues(const Matrix<C>& triangular, bool real, W tiny) {
  std::vector<Eigenvalue<C>> ordered;
  std::vector<bool> used(static_cast<size_t>(triangular.rows), false);
  for (int64_t k = 0; k < triangular.rows; ++k) {
    if (used[k]) continue;
    const C value = triangular(k, k);
    if (!real) {
      ordered.push_back({value, k});
      continue;
    }
    // The closest to its conjugate among the rest; itself if it is real.
    int64_t partner = k;
    for (int64_t j = k + 1; j < triangular.rows; ++j)
      if (!used[j] && std::abs(triangular(j, j) - std::conj(value)) <
                          std::abs(triangular(partner, partner) - std::conj(value)))
        partner = j;
    if (partner == k || std::abs(value.imag()) <= tiny) {
      ordered.push_back({C(value.real(), 0), k});
      continue;
    }
    used[partner] = true;
    const C upper = value.imag() > 0 ? value : std::conj(value);
    ordered.push_back({upper, k, value.imag() < 0});
    ordered.push_back({std::conj(upper), k, value.imag() > 0});
  }
  return ordered;
}

// The parts of the property of eigenvalues w and of left and right eigenvectors.
enum EigenPart : int64_t { kValuesPart, kLeftVectorsPart, kRightVectorsPart };

// Makes the property of the eigenvalues and eigenvectors of a.
template <typename E, typename C, typename W>
std::shared_ptr<const Property> EigenProperty(ElementType type, Matrix<C> a, W tolerance) {
  using T = typename Scalar<E>::Real;
  auto property = std::make_shared<Property>();
  property->what = "a v = v w, uᴴ a = w uᴴ, and w are the eigenvalues";
  const Shape square = Shape::Array(type, {a.rows, a.rows});
  property->parts = {Shape::Array(type, {a.rows, 1}), square, square};
  property->violation = [a = std::move(a), tolerance](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>& present) -> std::string {
    using N = std::complex<T>;
    const Matrix<C> w = MatrixOf<N>(parts[kValuesPart]);
    if (present[kValuesPart] && !AreEigenvalues(a, w.values, tolerance))
      return "w are not the eigenvalues";
    for (EigenPart side : {kLeftVectorsPart, kRightVectorsPart}) {
      if (!present[side]) continue;
      const Matrix<C> v = MatrixOf<N>(parts[side]);
      const Matrix<C> image = Product(side == kLeftVectorsPart ? Adjoint(a) : a, v);
      for (int64_t j = 0; j < v.columns; ++j) {
        W squares = 0, error = 0;
        C quotient{};
        for (int64_t i = 0; i < v.rows; ++i) {
          squares += std::norm(v(i, j));
          quotient += std::conj(v(i, j)) * image(i, j);
        }
        if (present[kValuesPart])
          quotient = side == kLeftVectorsPart ? std::conj(w(j, 0)) : w(j, 0);
        for (int64_t i = 0; i < v.rows; ++i) error += std::norm(image(i, j) - quotient * v(i, j));
        if (!(std::abs(std::sqrt(squares) - 1) <= OrthonormalSlack<E>(a.rows)))
          return "an eigenvector is not of length 1";
        if (!(std::sqrt(error) <= 2 * tolerance))
          return side == kLeftVectorsPart ? "uᴴ a is not w uᴴ" : "a v is not v w";
      }
    }
    return "";
  };
  return property;
}

// A bound of the distance between the operand and the matrix whose results are exact.
template <typename Call, typename M>
typename Call::W Tolerance(const Call& call, const M& numbers) {
  return 4 * ValueRadius(call, numbers);
}

// (a) -> (eigenvalues, left and right eigenvectors, info).
absl::StatusOr<Value> ApplyGeev(Interpreter& interpreter, const OpContext& op) {
  const bool real = !IsComplex(op.literal(0).element_type());
  const bool wanted[] = {HasOption(op, "compute_left", 'V'), HasOption(op, "compute_right", 'V')};
  return ForEachMatrix(interpreter, op, 2, [real, &wanted](auto call) {
    using E = typename decltype(call)::Element;
    using W = typename decltype(call)::W;
    using N = std::complex<typename decltype(call)::T>;
    using C = std::complex<W>;
    const auto numbers = call.Read(0);
    const int64_t n = numbers.rows, vectors = real ? 2 : 1;
    const Matrix<C> a = ToComplex<C>(Centres<typename decltype(call)::S>(numbers));
    if (!IsFinite(a)) return call.UndecideAll();
    Matrix<C> t = a, z(n, n);
    SchurForm(t, z);
    const W norm = FrobeniusNorm(a);
    const auto ordered =
        OrderedEigenvalues(t, real, norm * static_cast<W>(n) * std::numeric_limits<W>::epsilon());
    std::vector<C> values;
    for (const auto& each : ordered) values.push_back(each.value);
    SetEigenvalues(call, 0, values);
    for (int64_t side : {0, 1}) {
      for (int64_t k = 0; wanted[side] && k < n; ++k) {
        const std::vector<C> v =
            UnitVector(z, TriangularEigenvector(t, ordered[k].index, side == 0));
        for (int64_t i = 0; i < n; ++i)
          call.template SetAs<N>(vectors + side, i * n + k,
                                 {ordered[k].conjugate ? std::conj(v[i]) : v[i], 0});
      }
      call.Undecide(vectors + side);
    }
    call.SetInteger(vectors + 2, 0, 0);
    if (!call.results.bounds) return;
    const auto property = EigenProperty<E, C, W>(
        ComplexTypeOf(call.results.ShapeOf(vectors).element_type()), a, Tolerance(call, numbers));
    JudgeEigenvalues(call, 0, property, kValuesPart);
    for (int64_t side : {0, 1})
      if (wanted[side]) call.JudgeByProperty(vectors + side, property, kLeftVectorsPart + side);
  });
}

// ---- Schur's form of real matrices, which has blocks of two for pairs of conjugate eigenvalues.

// Orthonormal columns that span those of `basis`, completed to a whole basis.
template <typename W>
Matrix<W> CompletedBasis(const std::vector<std::vector<W>>& basis, int64_t n) {
  Matrix<W> q(n, n);
  int64_t found = 0;
  auto add = [&](std::vector<W> v, W least) {
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < found; ++k) {
        W inner = 0;
        for (int64_t i = 0; i < n; ++i) inner += q(i, k) * v[i];
        for (int64_t i = 0; i < n; ++i) v[i] -= inner * q(i, k);
      }
    }
    W squares = 0;
    for (W x : v) squares += x * x;
    if (!(squares > least) || found == n) return;
    for (int64_t i = 0; i < n; ++i) q(i, found) = v[i] / std::sqrt(squares);
    ++found;
  };
  for (const std::vector<W>& v : basis) add(v, 0);
  for (int64_t k = 0; k < n; ++k) {
    std::vector<W> unit(static_cast<size_t>(n), W{0});
    unit[k] = 1;
    add(std::move(unit), W{kLeastOrthogonalPart} / static_cast<W>(n));
  }
  return q;
}

// The rotation of a 2 x 2 block that makes its diagonal elements equal, as LAPACK leaves them.
template <typename W>
Matrix<W> EqualDiagonal(W a, W b, W c, W d) {
  const W angle = std::atan2(d - a, b + c) / 2;
  Matrix<W> rotation(2, 2);
  rotation(0, 0) = rotation(1, 1) = std::cos(angle);
  rotation(1, 0) = std::sin(angle);
  rotation(0, 1) = -std::sin(angle);
  return rotation;
}

// z a basis in which zᵀ a z has Schur's form; `starts` where its blocks begin.
template <typename W>
Matrix<W> RealSchurBasis(const Matrix<W>& matrix, std::vector<int64_t>& starts) {
  using C = std::complex<W>;
  const int64_t n = matrix.rows;
  Matrix<W> z = Identity<W>(n);
  for (int64_t done = 0; done < n;) {
    const Matrix<W> whole = Product(Adjoint(z), Product(matrix, z));
    const int64_t left = n - done;
    Matrix<C> rest(left, left), vectors(left, left);
    for (int64_t i = 0; i < left; ++i)
      for (int64_t j = 0; j < left; ++j) rest(i, j) = whole(done + i, done + j);
    const W norm = FrobeniusNorm(rest);
    SchurForm(rest, vectors);
    // The first Schur vector is an eigenvector.
    const C value = rest(0, 0);
    const bool pair = left > 1 && std::abs(value.imag()) > norm * static_cast<W>(n) * 8 *
                                                               std::numeric_limits<W>::epsilon();
    std::vector<std::vector<W>> basis(pair ? 2 : 1, std::vector<W>(static_cast<size_t>(left)));
    C largest{};
    for (int64_t i = 0; i < left; ++i)
      if (std::abs(vectors(i, 0)) > std::abs(largest)) largest = vectors(i, 0);
    for (int64_t i = 0; i < left; ++i) {
      const C x = vectors(i, 0) * std::conj(largest) / std::abs(largest);
      basis[0][i] = x.real();
      if (pair) basis[1][i] = x.imag();
    }
    const Matrix<W> q = CompletedBasis(basis, left);
    Matrix<W> step = Identity<W>(n);
    for (int64_t i = 0; i < left; ++i)
      for (int64_t j = 0; j < left; ++j) step(done + i, done + j) = q(i, j);
    z = Product(z, step);
    if (pair) {
      const Matrix<W> t = Product(Adjoint(z), Product(matrix, z));
      const Matrix<W> r =
          EqualDiagonal(t(done, done), t(done, done + 1), t(done + 1, done), t(done + 1, done + 1));
      Matrix<W> turn = Identity<W>(n);
      for (int64_t i : {0, 1})
        for (int64_t j : {0, 1}) turn(done + i, done + j) = r(i, j);
      z = Product(z, turn);
    }
    starts.push_back(done);
    done += pair ? 2 : 1;
  }
  return z;
}

// The eigenvalues of a (quasi-)triangular matrix, block by block.
template <typename C, typename S>
std::vector<C> DiagonalEigenvalues(const Matrix<S>& triangular) {
  using W = decltype(std::abs(S()));
  std::vector<C> values;
  for (int64_t k = 0; k < triangular.rows; ++k) {
    if (k + 1 == triangular.rows || triangular(k + 1, k) == S{}) {
      values.push_back(C(triangular(k, k)));
      continue;
    }
    const C a(triangular(k, k)), b(triangular(k, k + 1)), c(triangular(k + 1, k)),
        d(triangular(k + 1, k + 1));
    const C mean = (a + d) * W{0.5}, half = (a - d) * W{0.5};
    const C root = std::sqrt(half * half + b * c);
    values.push_back(mean + root);
    values.push_back(mean - root);
    ++k;
  }
  return values;
}

// Zeros below the diagonal, but for blocks of two where those are allowed.
template <typename S>
bool IsQuasiTriangular(const Matrix<S>& triangular, bool blocks,
                       decltype(std::abs(S())) tolerance) {
  for (int64_t i = 0; i < triangular.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      const bool within = std::abs(triangular(i, j)) <= tolerance;
      const bool in_block =
          blocks && j + 1 == i && (j == 0 || std::abs(triangular(j, j - 1)) <= tolerance);
      if (!within && !in_block) return false;
    }
  }
  return true;
}

// The parts of the property of Schur's form t, of its vectors z and of the eigenvalues w.
enum SchurPart : int64_t { kFormPart, kVectorsPart, kEigenvaluesPart };

// Makes the property of Schur's form of a.
template <typename E, typename S, typename W>
std::shared_ptr<const Property> SchurProperty(ElementType type, Matrix<S> a, W tolerance) {
  using T = typename Scalar<E>::Real;
  using C = std::complex<W>;
  auto property = std::make_shared<Property>();
  property->what = "a = z t zᴴ, zᴴ z = 1, t has Schur's form";
  const Shape square = Shape::Array(type, {a.rows, a.rows});
  property->parts = {square, square, Shape::Array(ComplexTypeOf(type), {a.rows, 1})};
  property->violation = [a = std::move(a), tolerance](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>& present) -> std::string {
    constexpr bool kReal = std::is_same_v<E, T>;
    const Matrix<S> t = MatrixOf<E>(parts[kFormPart]), z = MatrixOf<E>(parts[kVectorsPart]);
    if (present[kFormPart] && !IsQuasiTriangular(t, kReal, W{0}))
      return "t does not have Schur's form";
    if (present[kVectorsPart] && !IsOrthonormal(z, OrthonormalSlack<E>(a.rows)))
      return "z is not orthonormal";
    if (present[kFormPart] && present[kVectorsPart]) {
      if (!IsNear(Product(z, Product(t, Adjoint(z))), a, 2 * tolerance)) return "z t zᴴ is not a";
    } else if (present[kFormPart]) {
      if (!AreEigenvalues(ToComplex<C>(a), DiagonalEigenvalues<C>(t), 2 * tolerance) ||
          !(std::abs(FrobeniusNorm(t) - FrobeniusNorm(a)) <= 2 * tolerance))
        return "t is not similar to a";
    } else if (present[kVectorsPart]) {
      if (!IsQuasiTriangular(Product(Adjoint(z), Product(a, z)), kReal, 2 * tolerance))
        return "zᴴ a z does not have Schur's form";
    }
    if (present[kEigenvaluesPart] &&
        !AreEigenvalues(ToComplex<C>(a), MatrixOf<std::complex<T>>(parts[kEigenvaluesPart]).values,
                        2 * tolerance))
      return "w are not the eigenvalues";
    return "";
  };
  return property;
}

// The positions of results of gees; the eigenvalues of real matrices take two.
enum SchurResult : int64_t { kSchurForm, kSchurVectors, kSchurValues };

// (a) -> (t, z, eigenvalues, number of selected ones, info).
absl::StatusOr<Value> ApplyGees(Interpreter& interpreter, const OpContext& op) {
  const bool real = !IsComplex(op.literal(0).element_type());
  const bool vectors = HasOption(op, "mode", 'V');
  if (HasOption(op, "sort", 'S')) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(op.instruction.name(),
                            ": no function that selects eigenvalues can be "
                            "given to gees; sort = 'N' is known"));
  }
  return ForEachMatrix(interpreter, op, 2, [real, vectors](auto call) {
    using E = typename decltype(call)::Element;
    using S = typename decltype(call)::S;
    using W = typename decltype(call)::W;
    using C = std::complex<W>;
    const auto numbers = call.Read(0);
    const int64_t n = numbers.rows;
    const Matrix<S> a = Centres<S>(numbers);
    if (!IsFinite(a)) return call.UndecideAll();
    Matrix<S> t = a, z(n, n);
    if constexpr (std::is_same_v<S, C>) {
      SchurForm(t, z);
    } else {
      std::vector<int64_t> starts;
      z = RealSchurBasis(a, starts);
      t = Product(Adjoint(z), Product(a, z));
      starts.push_back(n);
      for (size_t block = 0; block + 1 < starts.size(); ++block)
        for (int64_t i = starts[block + 1]; i < n; ++i)
          for (int64_t j = starts[block]; j < starts[block + 1]; ++j) t(i, j) = 0;
    }
    for (int64_t i = 0; i < n * n; ++i) {
      call.Set(kSchurForm, i, {t.values[i], 0});
      if (vectors) call.Set(kSchurVectors, i, {z.values[i], 0});
    }
    SetEigenvalues(call, kSchurValues, DiagonalEigenvalues<C>(t));
    // Behind the eigenvalues: the number of selected ones, and info.
    const int64_t after = real ? kSchurValues + 2 : kSchurValues + 1;
    call.SetInteger(after, 0, 0);
    call.SetInteger(after + 1, 0, 0);
    call.Undecide(kSchurVectors);
    if (!call.results.bounds) return;
    const auto property = SchurProperty<E, S, W>(call.results.ShapeOf(kSchurForm).element_type(), a,
                                                 Tolerance(call, numbers));
    call.JudgeByProperty(kSchurForm, property, kFormPart);
    if (vectors) call.JudgeByProperty(kSchurVectors, property, kVectorsPart);
    JudgeEigenvalues(call, kSchurValues, property, kEigenvaluesPart);
  });
}

}  // namespace

absl::Span<const CustomCallTarget> SchurTargets() {
  static constexpr CustomCallTarget kRows[] = {
      {.name = "geev",
       .apply = ApplyGeev,
       .signature = "nn > n, n, nn:c, nn:c, :i",
       .options = "compute_left compute_right",
       .complex_signature = "nn > n, nn, nn, :i"},
      {.name = "gees",
       .apply = ApplyGees,
       .signature = "nn > nn, nn, n, n, :i, :i",
       .options = "mode",
       .complex_signature = "nn > nn, nn, n, :i, :i"},
  };
  return kRows;
}

}  // namespace assay::reference
