// The bound of dot: a sum of products in any order, each of them rounded or not.
#include "reference/dot.h"

#include "reference/bounds/binary.h"
#include "reference/bounds/sum.h"

namespace assay::reference {
namespace {

// The operands' elements in the order of the geometry, as ranges of the result's wide type.
template <typename From, typename W>
void AppendRanges(const OpContext& op, const Array& operand, const IndexMap& places,
                  std::vector<Range<W>>& ranges) {
  for (int64_t at : places) {
    if constexpr (kIsReal<From>) {
      const auto x = Seen<From>(op.freedoms, operand, at, Consumer::kSum);
      ranges.push_back({static_cast<W>(x.centre), static_cast<W>(x.radius), x.flags});
    } else if (operand.choices.contains(at)) {
      ranges.push_back(Range<W>::Unknown());
    } else {
      ranges.push_back({static_cast<W>(operand.literal.data<From>()[at]), 0, 0});
    }
  }
}

template <typename W>
std::vector<Range<W>> RangesOf(const OpContext& op, int64_t k, const IndexMap& places) {
  std::vector<Range<W>> ranges;
  ranges.reserve(places.size());
  DispatchComputed(op.literal(k).element_type(), [&](auto tag) {
    AppendRanges<typename decltype(tag)::type>(op, op.array(k), places, ranges);
  });
  return ranges;
}

template <typename T>
void BoundDotFloats(const OpContext& op, Array& result) {
  using W = Wide<T>;
  const DotGeometry geometry = GeometryOfDot(op);
  const std::vector<Range<W>> lhs = RangesOf<W>(op, 0, geometry.lhs);
  const std::vector<Range<W>> rhs = RangesOf<W>(op, 1, geometry.rhs);
  int64_t i = 0;
  for (int64_t b = 0; b < geometry.batch; ++b) {
    for (int64_t m = 0; m < geometry.rows; ++m) {
      const Range<W>* row = lhs.data() + (b * geometry.rows + m) * geometry.depth;
      for (int64_t n = 0; n < geometry.columns; ++n, ++i) {
        const Range<W>* column = rhs.data() + (b * geometry.columns + n) * geometry.depth;
        SumBound<T> sum;
        for (int64_t k = 0; k < geometry.depth; ++k) {
          const bool single = row[k].flags == 0 && column[k].flags == 0 && row[k].radius == 0 &&
                              column[k].radius == 0;
          // Products of singles are exact in W up to f32; those of doubles are not.
          if (single && !std::is_same_v<T, double>) {
            sum.Add({row[k].centre * column[k].centre, 0, 0}, true);
          } else if (single) {
            const W product = row[k].centre * column[k].centre;
            const bool exact =
                std::fabs(product) > W{0x1p-900} && std::fabs(product) < W{0x1p1000} &&
                std::fma(static_cast<double>(row[k].centre), static_cast<double>(column[k].centre),
                         -static_cast<double>(product)) == 0;
            sum.Add({product, exact ? W{0} : std::fabs(product) * kSlop<W>, 0}, true);
          } else {
            sum.Add(RangeOf<MultiplyBound>(row[k], column[k]), true);
          }
        }
        FinishSum<T>(op.freedoms, result, i, sum, View::kSum);
      }
    }
  }
}

// An integer result is undecided where any element of its row or column is.
void BoundDotIntegers(const OpContext& op, Array& result) {
  const DotGeometry geometry = GeometryOfDot(op);
  auto uncertain = [&](int64_t k, const IndexMap& places, int64_t first) {
    for (int64_t j = first; j < first + geometry.depth; ++j)
      if (op.array(k).choices.contains(places[j])) return true;
    return false;
  };
  int64_t i = 0;
  for (int64_t b = 0; b < geometry.batch; ++b) {
    for (int64_t m = 0; m < geometry.rows; ++m) {
      const bool row = uncertain(0, geometry.lhs, (b * geometry.rows + m) * geometry.depth);
      for (int64_t n = 0; n < geometry.columns; ++n, ++i) {
        if (row || uncertain(1, geometry.rhs, (b * geometry.columns + n) * geometry.depth))
          SetUndecided(result, i);
      }
    }
  }
}

}  // namespace

absl::Status BoundDot(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) {
    if (!AllCertain(op)) BoundDotIntegers(op, result);
    return absl::OkStatus();
  }
  DispatchReal(op.type(),
               [&](auto tag) { BoundDotFloats<typename decltype(tag)::type>(op, result); });
  return absl::OkStatus();
}

}  // namespace assay::reference
