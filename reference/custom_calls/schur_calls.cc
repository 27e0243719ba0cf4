// Eigenvalues of general matrices and Schur's form, as LAPACK's routines have them, by the QR
// algorithm on complex numbers. Results are judged by their defining property, up to the residual
// of a backward stable algorithm (operation semantics chapter 11, class RESID).
// UNSPECIFIED(operation semantics 14, CustomCall): the order of the eigenvalues, and the vectors up
// to what defines them.
#include "reference/custom_calls/call_options.h"
#include "reference/custom_calls/matrix_ops.h"
#include "reference/custom_calls/schur_form.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

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
    // Each element of a defective matrix may be larger than the one before by 1 / epsilon.
    const W size = std::abs(v[i]);
    if (size <= 1) return;
    for (C& element : v) element /= size;
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

// Multiplies everything by the power of two that brings `norm` to about one, so that powers neither
// overflow nor vanish.
template <typename C, typename W>
void BringToOne(Matrix<C>& matrix, std::vector<C>& values, W& tolerance) {
  const W norm = FrobeniusNorm(matrix);
  if (!(norm > 0)) return;
  const W factor = std::ldexp(W{1}, -std::ilogb(norm));
  for (C& x : matrix.values) x *= factor;
  for (C& x : values) x *= factor;
  tolerance *= factor;
}

// True if `values` are together the eigenvalues of some matrix within `tolerance` of a: each value
// w makes a - w nearly singular, and the sums of their powers are the traces of a's powers.
template <typename C, typename W>
bool AreEigenvalues(Matrix<C> matrix, std::vector<C> values, W tolerance) {
  const int64_t n = matrix.rows;
  BringToOne(matrix, values, tolerance);
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
  return 4 * ValueRadius(call, numbers) + LostNearZero(call, numbers);
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
    const auto numbers = call.Read(0, MatrixCall<E>::ResidualSize::kByNorm);
    const int64_t n = numbers.rows, vectors = real ? 2 : 1;
    const Matrix<C> a = ToComplex<C>(Centres<typename decltype(call)::S>(numbers));
    if (!IsFinite(a) || (call.results.bounds && !AreKnown(numbers))) return call.UndecideAll();
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

// ---- Schur's form. That of real matrices has blocks of two for pairs of conjugate eigenvalues.

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
    const auto numbers = call.Read(0, MatrixCall<E>::ResidualSize::kByNorm);
    const int64_t n = numbers.rows;
    const Matrix<S> a = Centres<S>(numbers);
    if (!IsFinite(a) || (call.results.bounds && !AreKnown(numbers))) return call.UndecideAll();
    Matrix<S> t = a, z(n, n);
    if constexpr (std::is_same_v<S, C>) {
      SchurForm(t, z);
    } else {
      RealSchurForm(t, z);
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
