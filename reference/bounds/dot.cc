// The bound of dot: a sum of products in any order, each of them rounded or not.
#include "reference/dot.h"

#include <optional>

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

// Rows of numbers that are all certain, with the largest power of two that divides each row.
struct CertainRows {
  std::vector<double> values;
  std::vector<int> quanta;
};

// Nothing if any element is not.
std::optional<CertainRows> CertainRowsOf(const std::vector<Range<double>>& ranges, int64_t depth) {
  CertainRows rows;
  rows.values.reserve(ranges.size());
  for (const Range<double>& x : ranges) {
    if (x.flags != 0 || x.radius != 0) return std::nullopt;
    rows.values.push_back(x.centre);
  }
  for (size_t first = 0; first + depth <= ranges.size(); first += depth) {
    int quantum = 1 << 19;
    for (int64_t k = 0; k < depth; ++k)
      if (rows.values[first + k] != 0)
        quantum = std::min(quantum, LowestBit(rows.values[first + k]));
    rows.quanta.push_back(quantum);
  }
  return rows;
}

// Term by term, where partial sums of either sign may overflow.
template <typename T>
SumBound<T> SumOfCertain(const double* a, const double* b, int64_t depth) {
  SumBound<T> sum;
  for (int64_t k = 0; k < depth; ++k) sum.Add({a[k] * b[k], 0, 0}, true);
  return sum;
}

// The common case: every operand element is certain, and products are exact in double.
template <typename T>
void BoundCertainDot(const OpContext& op, const DotGeometry& geometry, const CertainRows& lhs,
                     const CertainRows& rhs, Array& result) {
  int64_t i = 0;
  for (int64_t row = 0; row < geometry.batch * geometry.rows; ++row) {
    const double* a = lhs.values.data() + row * geometry.depth;
    for (int64_t n = 0; n < geometry.columns; ++n, ++i) {
      const int64_t column = row / geometry.rows * geometry.columns + n;
      const double* b = rhs.values.data() + column * geometry.depth;
      double sum = 0, magnitude = 0;
      int64_t terms = 0;
      bool negative_zero = false;
      for (int64_t k = 0; k < geometry.depth; ++k) {
        const double product = a[k] * b[k];
        sum += product;
        magnitude += std::fabs(product);
        terms += product != 0 ? 1 : 0;
        negative_zero |= product == 0 && std::signbit(product);
      }
      auto certain = SumBound<T>::OfProducts(sum, magnitude, terms,
                                             lhs.quanta[row] + rhs.quanta[column], negative_zero);
      if (certain.Overflows()) certain = SumOfCertain<T>(a, b, geometry.depth);
      FinishSum<T>(op.freedoms, result, i, certain, View::kSum);
    }
  }
}

template <typename W>
Range<W> ProductOf(const Range<W>& a, const Range<W>& b) {
  Range<W> product = RangeOf<MultiplyBound>(a, b);
  const bool zero = product.HasFinite() && product.centre == 0 && product.radius == 0;
  if (zero && ((a.flags | b.flags) & kZeroSignFree) != 0) product.flags |= kZeroSignFree;
  return product;
}

template <typename T>
void BoundDotFloats(const OpContext& op, Array& result) {
  using W = Wide<T>;
  const DotGeometry geometry = GeometryOfDot(op);
  const std::vector<Range<W>> lhs = RangesOf<W>(op, 0, geometry.lhs);
  const std::vector<Range<W>> rhs = RangesOf<W>(op, 1, geometry.rhs);
  if constexpr (!std::is_same_v<T, double>) {
    if (geometry.depth > 0) {
      const auto certain_lhs = CertainRowsOf(lhs, geometry.depth);
      const auto certain_rhs = CertainRowsOf(rhs, geometry.depth);
      if (certain_lhs && certain_rhs) {
        BoundCertainDot<T>(op, geometry, *certain_lhs, *certain_rhs, result);
        return;
      }
    }
  }
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
            sum.Add(ProductOf(row[k], column[k]), true);
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
