// Dot. Document: operation semantics chapter 11, "Accumulation and result type" and DotGeneral.
#include "reference/dot.h"

#include <algorithm>

#include "reference/arithmetic.h"
#include "reference/double_double.h"

namespace assay::reference {
namespace {

bool Has(absl::Span<const int64_t> list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// Sizes and strides of a list of dimensions.
struct DimList {
  DimVector sizes, strides;
  void Add(const Shape& shape, int64_t d) {
    sizes.push_back(shape.dimension(d));
    strides.push_back(RowMajorStrides(shape.dimensions())[d]);
  }
  int64_t Count() const {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    return count;
  }
};

// The dimensions of one operand in the order batch, free, contracted.
DimList Arrange(const Shape& shape, absl::Span<const int64_t> batch,
                absl::Span<const int64_t> contracting, DimList& free) {
  DimList all;
  for (int64_t d : batch) all.Add(shape, d);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Has(batch, d) || Has(contracting, d)) continue;
    all.Add(shape, d);
    free.Add(shape, d);
  }
  for (int64_t d : contracting) all.Add(shape, d);
  return all;
}

IndexMap Places(const DimList& list) {
  IndexMap places;
  if (list.Count() == 0) return places;
  places.reserve(static_cast<size_t>(list.Count()));
  DimVector index(list.sizes.size(), 0);
  do {
    places.push_back(LinearIndex(list.strides, index));
  } while (NextIndex(list.sizes, absl::MakeSpan(index)));
  return places;
}

// The elements of an operand in the order of `places`, as To.
template <typename To>
std::vector<To> Gather(const Literal& operand, const IndexMap& places) {
  std::vector<To> values(places.size());
  DispatchComputed(operand.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    absl::Span<const T> in = operand.data<T>();
    for (size_t i = 0; i < places.size(); ++i) {
      if constexpr (kIsReal<T>) {
        values[i] = static_cast<To>(Widen<double>(in[places[i]]));
      } else {
        values[i] = static_cast<To>(in[places[i]]);
      }
    }
  });
  return values;
}

// Calls f(result index, row of lhs, row of rhs), rows being `depth` long.
template <typename To, typename F>
void ForEachPair(const OpContext& op, const DotGeometry& geometry, F f) {
  const std::vector<To> lhs = Gather<To>(op.literal(0), geometry.lhs);
  const std::vector<To> rhs = Gather<To>(op.literal(1), geometry.rhs);
  int64_t i = 0;
  for (int64_t b = 0; b < geometry.batch; ++b) {
    for (int64_t m = 0; m < geometry.rows; ++m) {
      const To* row = lhs.data() + (b * geometry.rows + m) * geometry.depth;
      for (int64_t n = 0; n < geometry.columns; ++n)
        f(i++, row, rhs.data() + (b * geometry.columns + n) * geometry.depth);
    }
  }
}

template <typename T>
void DotFloats(const OpContext& op, const DotGeometry& geometry, Literal& result) {
  absl::Span<T> out = result.data<T>();
  const int64_t depth = geometry.depth;
  ForEachPair<double>(op, geometry, [&](int64_t i, const double* a, const double* b) {
    if constexpr (std::is_same_v<T, double>) {
      DoubleDouble sum;
      for (int64_t k = 0; k < depth; ++k) sum.AddProduct(a[k], b[k]);
      out[i] = sum.Rounded();
    } else {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) sum += a[k] * b[k];
      out[i] = Round<T>(sum);
    }
  });
}

// Modulo 2^N of the result type; predicates: and, or.
template <typename T>
void DotIntegers(const OpContext& op, const DotGeometry& geometry, Literal& result) {
  absl::Span<T> out = result.data<T>();
  const int64_t depth = geometry.depth;
  ForEachPair<uint64_t>(op, geometry, [&](int64_t i, const uint64_t* a, const uint64_t* b) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum = kIsPred<T> ? sum | (a[k] & b[k]) : sum + a[k] * b[k];
    out[i] = static_cast<T>(sum);
  });
}

absl::Status EvaluateDot(const OpContext& op, Literal& result) {
  for (int64_t k : {0, 1}) {
    const ElementType type = op.literal(k).element_type();
    if (!IsComputed(type) || (IsFloat(type) && !IsFloat(op.type())))
      return UnsupportedType(op, type);
  }
  const DotGeometry geometry = GeometryOfDot(op);
  bool done = DispatchComputed(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsReal<T>) {
      DotFloats<T>(op, geometry, result);
    } else {
      DotIntegers<T>(op, geometry, result);
    }
  });
  return done ? absl::OkStatus() : UnsupportedType(op, op.type());
}

int64_t DotCost(const OpContext& op) {
  const Shape& lhs = op.literal(0).shape();
  // Saturating: the sizes of a verified module are bounded, their product is not.
  double cost = static_cast<double>(op.count());
  for (int64_t d : op.instruction.attributes().Integers(Attr::kLhsContractingDims))
    cost *= static_cast<double>(lhs.dimension(d));
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

DotGeometry GeometryOfDot(const OpContext& op) {
  const Attributes& attributes = op.instruction.attributes();
  const Shape &lhs = op.literal(0).shape(), &rhs = op.literal(1).shape();
  DotGeometry geometry;
  absl::Span<const int64_t> batch = attributes.Integers(Attr::kLhsBatchDims);
  absl::Span<const int64_t> contracting = attributes.Integers(Attr::kLhsContractingDims);
  DimList lhs_free, rhs_free;
  geometry.lhs = Places(Arrange(lhs, batch, contracting, lhs_free));
  geometry.rhs = Places(Arrange(rhs, attributes.Integers(Attr::kRhsBatchDims),
                                attributes.Integers(Attr::kRhsContractingDims), rhs_free));
  for (int64_t d : batch) geometry.batch *= lhs.dimension(d);
  for (int64_t d : contracting) geometry.depth *= lhs.dimension(d);
  geometry.rows = lhs_free.Count();
  geometry.columns = rhs_free.Count();
  return geometry;
}

absl::Span<const OpEvaluation> DotEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {Opcode::kDot, EvaluateDot, BoundDot, nullptr, DotCost},
  };
  return kRows;
}

}  // namespace assay::reference
