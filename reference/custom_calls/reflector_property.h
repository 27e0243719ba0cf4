// The property that judges the results of a factorisation by reflectors together where their discs
// say too little: for nearly dependent columns neither factor is known, yet their product is. The
// orthogonal factor that a later call makes of the reflectors belongs to the same property.
#pragma once

#include "reference/custom_calls/matrix_ops.h"

namespace assay::reference {

inline constexpr char kQrProperty[] = "a = q r, qᴴ q = 1";
// The parts of the property: r by rows; what is below it by columns, then tau; and the first
// columns of q, or all of them.
enum QrPart : int64_t { kUpperFactor, kReflectors, kThinFactor, kFullFactor };

// The index of element (i, j) of r in its part.
inline int64_t UpperPlace(int64_t columns, int64_t i, int64_t j) {
  return i * columns - i * (i - 1) / 2 + j - i;
}
// The indices of the elements of `count` reflectors of length `rows` in their part.
struct ReflectorPlaces {
  int64_t rows, count;

  int64_t Element(int64_t i, int64_t j) const {
    return j * (rows - 1) - j * (j - 1) / 2 + i - j - 1;
  }
  int64_t Tau(int64_t k) const { return Element(count + 1, count) + k; }
  int64_t Size() const { return Tau(count); }
};

// The numbers of a property's part that is a list.
template <typename E>
std::vector<typename Scalar<E>::WideNumber> NumbersOf(const Literal& literal) {
  std::vector<typename Scalar<E>::WideNumber> numbers;
  for (const E x : literal.data<E>()) numbers.push_back(WidenNumber(x));
  return numbers;
}

// The Euclidean norm of column j.
template <typename S>
auto ColumnNorm(const Matrix<S>& matrix, int64_t j) {
  decltype(std::abs(S())) squares = 0;
  for (int64_t i = 0; i < matrix.rows; ++i)
    squares += RealPart(matrix(i, j) * Conjugate(matrix(i, j)));
  return std::sqrt(squares);
}

// The first columns of the product of the reflectors.
template <typename S>
Matrix<S> ProductOfReflectors(const std::vector<S>& list, const ReflectorPlaces& at) {
  Matrix<S> q(at.rows, at.count);
  for (int64_t i = 0; i < at.count; ++i) q(i, i) = 1;
  for (int64_t k = at.count; k-- > 0;) {
    for (int64_t j = k; j < q.columns; ++j) {
      S sum = q(k, j);
      for (int64_t i = k + 1; i < at.rows; ++i) sum += Conjugate(list[at.Element(i, k)]) * q(i, j);
      sum *= list[at.Tau(k)];
      q(k, j) -= sum;
      for (int64_t i = k + 1; i < at.rows; ++i) q(i, j) -= list[at.Element(i, k)] * sum;
    }
  }
  return q;
}

// No column of `product` is further from that of a than its slack.
template <typename S, typename W>
bool ColumnsAreNear(const Matrix<S>& product, const Matrix<S>& matrix,
                    const std::vector<W>& slack) {
  Matrix<S> rest = matrix;
  for (size_t i = 0; i < rest.values.size(); ++i) rest.values[i] -= product.values[i];
  for (int64_t j = 0; j < matrix.columns; ++j)
    if (!(ColumnNorm(rest, j) <= slack[j])) return false;
  return true;
}

// Says what is wrong with q, whose first columns times r should be a; where r is not given, it is
// found from q and a. Empty if nothing is.
template <typename S, typename W>
std::string ViolationOfFactor(const Matrix<S>& a, const Matrix<S>& q, const Matrix<S>* r,
                              const std::vector<W>& slack, W unit) {
  if (!IsOrthonormal(q, unit)) return "the columns of q are not orthonormal";
  const int64_t rank = std::min(a.rows, a.columns);
  Matrix<S> first(a.rows, rank);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < rank; ++j) first(i, j) = q(i, j);
  if (r != nullptr) return ColumnsAreNear(Product(first, *r), a, slack) ? "" : "q r is not a";
  Matrix<S> found = Product(Adjoint(first), a);
  for (int64_t i = 0; i < found.rows; ++i)
    for (int64_t j = 0; j < std::min(i, found.columns); ++j) found(i, j) = S{};
  std::vector<W> twice = slack;
  for (W& x : twice) x *= 2;
  return ColumnsAreNear(Product(first, found), a, twice) ? "" : "qᴴ a is not triangular";
}

// Says what is wrong with r if nothing else is known: rᴴ r should be aᴴ a. Empty if nothing is.
template <typename S, typename W>
std::string ViolationOfUpper(const Matrix<S>& a, const Matrix<S>& r, const std::vector<W>& slack) {
  const Matrix<S> got = Product(Adjoint(r), r), wanted = Product(Adjoint(a), a);
  for (int64_t i = 0; i < a.columns; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      const W allowed =
          slack[i] * ColumnNorm(a, j) + slack[j] * ColumnNorm(a, i) + slack[i] * slack[j];
      if (!(std::abs(got(i, j) - wanted(i, j)) <= allowed)) return "rᴴ r is not aᴴ a";
    }
  }
  return "";
}

// The property of the factors of `numbers`; null where they may overflow. Column by column the
// residual of an orthogonal factorisation is c u times the column's norm.
template <typename E>
std::shared_ptr<const Property> MakeQrProperty(
    const MatrixCall<E>& call, const typename MatrixCall<E>::NumberMatrix& numbers) {
  using S = typename MatrixCall<E>::S;
  using T = typename MatrixCall<E>::T;
  using W = typename MatrixCall<E>::W;
  Matrix<S> a = Centres<S>(numbers);
  const int64_t m = a.rows, n = a.columns, rank = std::min(m, n);
  std::vector<W> slack;
  for (int64_t j = 0; j < n; ++j) {
    W radii = 0;
    for (int64_t i = 0; i < m; ++i) radii += numbers(i, j).radius;
    const W norm = ColumnNorm(a, j);
    if (!(norm + radii < OverflowThreshold<T>() / 16)) return nullptr;
    slack.push_back(call.Residual(8 * (m + n)) * (norm + radii) + radii +
                    static_cast<W>(8 * (m + n) * m) * Tiny<T>());
  }
  const ElementType type = call.results.ShapeOf(0).element_type();
  const ReflectorPlaces places{m, rank};
  auto property = std::make_shared<Property>();
  property->what = kQrProperty;
  property->parts = {Shape::Array(type, {UpperPlace(n, rank, rank)}),
                     Shape::Array(type, {places.Size()}), Shape::Array(type, {m, rank}),
                     Shape::Array(type, {m, m})};
  property->violation = [a = std::move(a), slack = std::move(slack), places](
                            absl::Span<const Literal> parts,
                            const std::vector<bool>& present) -> std::string {
    const W unit = MatrixCall<E>::Residual(8 * (a.rows + a.columns));
    Matrix<S> r(places.count, a.columns);
    const std::vector<S> packed = NumbersOf<E>(parts[kUpperFactor]);
    for (int64_t i = 0; i < r.rows; ++i)
      for (int64_t j = i; j < r.columns; ++j) r(i, j) = packed[UpperPlace(a.columns, i, j)];
    const Matrix<S>* given = present[kUpperFactor] ? &r : nullptr;
    std::string wrong;
    bool alone = true;
    auto check = [&](QrPart part, const auto& factor) {
      if (!present[part]) return;
      alone = false;
      if (wrong.empty()) wrong = ViolationOfFactor(a, factor(), given, slack, unit);
    };
    check(kReflectors,
          [&] { return ProductOfReflectors(NumbersOf<E>(parts[kReflectors]), places); });
    check(kThinFactor, [&] { return MatrixOf<E>(parts[kThinFactor]); });
    check(kFullFactor, [&] { return MatrixOf<E>(parts[kFullFactor]); });
    return alone ? ViolationOfUpper(a, r, slack) : wrong;
  };
  return property;
}

// The elements of result 0, r above reflectors, and of result `taus` are parts of `property`.
template <typename E>
void AttachQrParts(MatrixCall<E>& call, const std::shared_ptr<const Property>& property,
                   int64_t taus) {
  const int64_t m = call.Rows(0), n = call.Columns(0);
  const ReflectorPlaces places{m, std::min(m, n)};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const bool upper = i <= j;
      call.Attach(0, i * n + j, property, upper ? kUpperFactor : kReflectors,
                  upper ? UpperPlace(n, i, j) : places.Element(i, j));
    }
  }
  for (int64_t k = 0; k < places.count; ++k)
    call.Attach(taus, k, property, kReflectors, places.Tau(k));
}

// The property that all the reflectors of operands 0 and 1 come from, if there is one.
template <typename E>
std::shared_ptr<const Property> QrPropertyOfReflectors(const MatrixCall<E>& call) {
  const int64_t m = call.Rows(0), n = call.Columns(0), count = call.Columns(1);
  if (count < 1 || count > n || n > m || call.op.array(1).facts().origins.empty()) return nullptr;
  const ReflectorPlaces places{m, count};
  std::shared_ptr<const Property> property;
  auto belongs = [&](int64_t operand, int64_t i, int64_t place) {
    const Origin* origin = call.OriginOf(operand, i);
    if (origin == nullptr || origin->piece != Origin::kWhole || origin->part != kReflectors ||
        origin->index != place)
      return false;
    if (property == nullptr) property = origin->property;
    return property == origin->property && property->what == kQrProperty;
  };
  for (int64_t k = 0; k < count; ++k) {
    if (!belongs(1, k, places.Tau(k))) return nullptr;
    for (int64_t i = k + 1; i < m; ++i)
      if (!belongs(0, i * n + k, places.Element(i, k))) return nullptr;
  }
  const bool all_of_them = property->parts[kReflectors].ElementCount() == places.Size() &&
                           property->parts[kThinFactor].dimension(0) == m;
  return all_of_them && (n == count || n == m) ? property : nullptr;
}

}  // namespace assay::reference
