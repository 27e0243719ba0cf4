// Bounds the sum of the products of each result element of dot and convolution.
#include "reference/bounds/products.h"

#include <algorithm>

#include "reference/bounds/components.h"
#include "reference/bounds/elementwise/binary.h"
#include "reference/bounds/error_forms.h"
#include "reference/bounds/sum.h"

namespace assay::reference {
namespace {

// The effect of an algorithm (attribute of dot and convolution) on f32 and wider operands: the
// relative error of one that is rounded to the named type, or kept as a sum of several such parts
// of whose products the smallest are dropped; and whether sums are kept in that narrow type too.
// Document: hlo-format 4.0.4, words of `algorithm`.
struct AlgorithmError {
  std::string_view word;
  double operand_error;
  bool narrow_accumulator;
};
constexpr AlgorithmError kAlgorithmErrors[] = {
    {"dot_f16_f16_f16", 0x1p-11, true},       {"dot_f16_f16_f32", 0x1p-11, false},
    {"dot_bf16_bf16_bf16", 0x1p-8, true},     {"dot_bf16_bf16_f32", 0x1p-8, false},
    {"dot_bf16_bf16_f32_x3", 0x1p-16, false}, {"dot_bf16_bf16_f32_x6", 0x1p-23, false},
    {"dot_tf32_tf32_f32", 0x1p-11, false},    {"dot_tf32_tf32_f32_x3", 0x1p-21, false},
};

// True if factors of f32 may lose bits by a clause of the profile.
bool HasNarrowFactors(const OpContext& op) {
  if (!op.clauses.Has(ClauseId::kNarrowFactors)) return false;
  const absl::Span<const int64_t> words =
      op.instruction.attributes().Integers(Attr::kOperandPrecision);
  return std::none_of(words.begin(), words.end(), [](int64_t word) {
    return WordAt(Attr::kOperandPrecision, word) == "highest";
  });
}

AlgorithmError ErrorOf(const OpContext& op) {
  const std::string_view word =
      WordAt(Attr::kAlgorithm, op.instruction.attributes().Integer(Attr::kAlgorithm));
  for (const AlgorithmError& error : kAlgorithmErrors)
    if (error.word == word) return error;
  return {word, 0, false};
}

// The relative error of factors, and the bits of a number that has none; 0 where that is not said.
struct FactorError {
  double relative = 0;
  int exact_bits = 0;
};

// That of factors of a type by an algorithm with `operand_error`, or by a clause where there is no
// algorithm. The bits that are not kept may be cut off.
FactorError ErrorOfFactors(const OpContext& op, ElementType type, double operand_error) {
  const bool is_single = type == ElementType::kF32 || type == ElementType::kC64;
  const bool is_narrow = operand_error == 0 && is_single && HasNarrowFactors(op);
  return is_narrow ? FactorError{0x1p-10, 11} : FactorError{operand_error, 0};
}

template <typename W>
bool HasBits(W x, int bits) {
  int exponent = 0;
  const W scaled = std::ldexp(std::frexp(x, &exponent), bits);
  return scaled == std::trunc(scaled);
}

// Adds the error of a factor to its range: fewer digits, of which no infinity comes.
template <typename T, typename W>
void Blur(const FactorError& error, Range<W>& range) {
  if (!(error.relative > UnitRoundoff<T>()) || range.Undecided()) return;
  if (range.radius == 0 && HasBits(range.centre, error.exact_bits)) return;
  const auto relative = static_cast<W>(error.relative);
  range.radius += (std::fabs(range.centre) + range.radius + Tiny<T>()) * relative;
}

// Appends the arranged elements of an operand as ranges of the result's wide type.
template <typename From, typename W>
void AppendRanges(const OpContext& op, const Array& operand, const DimList& dims,
                  const FactorError& error, std::vector<Range<W>>& ranges) {
  dims.ForEachPlace([&](int64_t at) {
    if constexpr (kIsReal<From>) {
      const auto x = Seen<From>(op.clauses, operand, at, Consumer::kSum);
      Range<W> range{static_cast<W>(x.centre), static_cast<W>(x.radius), x.flags};
      Blur<From>(error, range);
      ranges.push_back(range);
    } else if (operand.facts().choices.contains(at)) {
      ranges.push_back(Range<W>::Unknown());
    } else {
      ranges.push_back({static_cast<W>(operand.literal.data<From>()[at]), 0, 0});
    }
  });
}

template <typename W>
std::vector<Range<W>> RangesOf(const OpContext& op, int64_t k, const DimList& dims,
                               double operand_error) {
  std::vector<Range<W>> ranges;
  ranges.reserve(static_cast<size_t>(dims.Count()));
  const ElementType type = op.literal(k).element_type();
  const FactorError error = ErrorOfFactors(op, type, operand_error);
  DispatchComputed(type, [&](auto tag) {
    AppendRanges<typename decltype(tag)::type>(op, op.array(k), dims, error, ranges);
  });
  return ranges;
}

// The magnitudes of the arranged elements of an operand, each at least that of its range; none
// where none was noted.
template <typename W>
std::vector<W> SizesOf(const Array& operand, const DimList& dims,
                       const std::vector<Range<W>>& ranges) {
  std::vector<W> sizes;
  const bool is_noted =
      std::any_of(operand.facts().bounds.begin(), operand.facts().bounds.end(),
                  [](const ElementBound& bound) { return bound.magnitude_bits != 0; });
  if (!is_noted) return sizes;
  sizes.reserve(ranges.size());
  dims.ForEachPlace([&](int64_t at) {
    const Range<W>& range = ranges[sizes.size()];
    sizes.push_back(std::max(std::fabs(range.centre) + range.radius,
                             static_cast<W>(operand.facts().bounds[at].magnitude())));
  });
  return sizes;
}

// Facts that hold for all of some factors.
struct Common {
  bool finite = true;     // intervals only
  bool single = true;     // numbers only
  int quantum = 1 << 19;  // the largest power of two that divides them all, if single

  template <typename W>
  void Include(const Range<W>& range) {
    finite = finite && (range.flags & ~uint32_t{kZeroSignFree}) == 0;
    single = single && finite && range.radius == 0;
    if (single && range.centre != 0) quantum = std::min(quantum, LowestBit(range.centre));
  }
};

template <typename W>
Range<W> ProductOf(const Range<W>& a, const Range<W>& b) {
  if (a.flags == 0 && b.flags == 0 && a.radius == 0 && b.radius == 0) {
    const W product = a.centre * b.centre;
    // Products are exact in W up to f32; those of doubles may not be.
    if constexpr (std::is_same_v<W, double>) return {product, 0, 0};
    const bool exact = std::fabs(product) > W{0x1p-900} && std::fabs(product) < W{0x1p1000} &&
                       std::fma(static_cast<double>(a.centre), static_cast<double>(b.centre),
                                -static_cast<double>(product)) == 0;
    return {product, exact ? W{0} : std::fabs(product) * kSlop<W>, 0};
  }
  Range<W> product = RangeOf<MultiplyBound>(a, b);
  const bool zero = product.HasFinite() && product.centre == 0 && product.radius == 0;
  auto has_either_sign = [](const Range<W>& x) {
    return (x.flags & kZeroSignFree) != 0 || (x.radius != 0 && x.Contains(0));
  };
  if (zero && (has_either_sign(a) || has_either_sign(b))) product.flags |= kZeroSignFree;
  return product;
}

// The sums of one array of floats, T its element type and A the accumulator's.
template <typename T, typename A>
class FloatSums {
 public:
  using W = Wide<T>;

  FloatSums(const OpContext& op, const ProductSums& sums, std::vector<Range<W>> lhs,
            std::vector<Range<W>> rhs, std::vector<W> lhs_sizes = {}, std::vector<W> rhs_sizes = {})
      : op_(op),
        sums_(sums),
        lhs_(std::move(lhs)),
        rhs_(std::move(rhs)),
        lhs_sizes_(std::move(lhs_sizes)),
        rhs_sizes_(std::move(rhs_sizes)) {
    if (sums.column_size == 0) return;
    columns_.resize(rhs_.size() / static_cast<size_t>(sums.column_size));
    for (size_t i = 0; i < rhs_.size(); ++i)
      columns_[i / static_cast<size_t>(sums.column_size)].Include(rhs_[i]);
  }

  void BoundBlock(const ProductSums::Block& block, Array& result) const {
    Common row;
    for (const ProductSums::Run& run : block.runs)
      for (int64_t k = 0; k < sums_.length; ++k) row.Include(lhs_[block.lhs + run.lhs + k]);
    const int64_t terms = static_cast<int64_t>(block.runs.size()) * sums_.length;
    for (int64_t c = 0; c < block.columns && !op_.OutOfTime(terms); ++c)
      FinishSum<T, A>(op_.clauses, result, block.result + c * block.result_step,
                      RoundedSum(block, c, row), View::kSum);
  }

 private:
  SumBound<T, A> RoundedSum(const ProductSums::Block& block, int64_t c, const Common& row) const {
    SumBound<T, A> sum = Sum(block, c, row);
    if (std::is_same_v<A, float> && op_.clauses.Has(ClauseId::kEitherRounding))
      sum.RoundEitherWay(op_.clauses.Has(ClauseId::kFlushSubnormals));
    return sum;
  }

  SumBound<T, A> Sum(const ProductSums::Block& block, int64_t c, const Common& row) const {
    const Common column = columns_.empty() ? Common() : columns_[block.rhs / sums_.column_size + c];
    if (row.finite && column.finite) {
      W sum = 0, magnitude = 0, propagated = 0, largest_product = 0;
      int64_t terms = 0;
      sums_.ForEachProduct(block, c, [&](int64_t a, int64_t b) {
        const Range<W>&x = lhs_[a], &y = rhs_[b];
        const W product = x.centre * y.centre;
        const W largest = (std::fabs(x.centre) + x.radius) * (std::fabs(y.centre) + y.radius);
        sum += product;
        magnitude += largest;
        largest_product = std::max(largest_product, largest);
        propagated += largest - std::fabs(product);
        terms += largest != 0 ? 1 : 0;
      });
      const bool single = row.single && column.single;
      if (!single) propagated += magnitude * kSlop<W>;
      const auto bound = SumBound<T, A>::OfProducts({.sum = sum,
                                                     .magnitude = magnitude,
                                                     .size = Size(block, c),
                                                     .largest = largest_product,
                                                     .propagated = propagated,
                                                     .terms = terms,
                                                     .single = single,
                                                     .quantum = row.quantum + column.quantum});
      // Signs of zeros and of overflows are seen term by term, and so are sums of a few.
      constexpr int64_t kFew = 3;
      if (terms > kFew && !bound.Overflows()) return bound;
    }
    SumBound<T, A> bound;
    sums_.ForEachProduct(block, c, [&](int64_t a, int64_t b) {
      bound.Add(ProductOf(lhs_[a], rhs_[b]), true, static_cast<double>(SizeOfProduct(a, b)));
    });
    return bound;
  }

  W SizeOfProduct(int64_t a, int64_t b) const {
    if (lhs_sizes_.empty() && rhs_sizes_.empty()) return 0;
    auto size = [](const std::vector<W>& sizes, const std::vector<Range<W>>& ranges, int64_t i) {
      return sizes.empty() ? std::fabs(ranges[i].centre) + ranges[i].radius : sizes[i];
    };
    return size(lhs_sizes_, lhs_, a) * size(rhs_sizes_, rhs_, b);
  }

  // The size of what was added up in a column of a block, 0 where nothing was noted of the factors.
  W Size(const ProductSums::Block& block, int64_t c) const {
    W sum = 0;
    if (lhs_sizes_.empty() && rhs_sizes_.empty()) return sum;
    sums_.ForEachProduct(block, c, [&](int64_t a, int64_t b) { sum += SizeOfProduct(a, b); });
    return sum;
  }

  const OpContext& op_;
  const ProductSums& sums_;
  std::vector<Range<W>> lhs_, rhs_;
  std::vector<W> lhs_sizes_, rhs_sizes_;
  std::vector<Common> columns_;
};

template <typename T, typename A>
void BoundFloats(const OpContext& op, const ProductSums& sums, double operand_error,
                 Array& result) {
  using W = Wide<T>;
  std::vector<Range<W>> lhs = RangesOf<W>(op, 0, sums.lhs, operand_error);
  std::vector<Range<W>> rhs = RangesOf<W>(op, 1, sums.rhs, operand_error);
  std::vector<W> lhs_sizes = SizesOf(op.array(0), sums.lhs, lhs);
  std::vector<W> rhs_sizes = SizesOf(op.array(1), sums.rhs, rhs);
  const FloatSums<T, A> floats(op, sums, std::move(lhs), std::move(rhs), std::move(lhs_sizes),
                               std::move(rhs_sizes));
  sums.for_each_block([&](const ProductSums::Block& block) { floats.BoundBlock(block, result); });
}

// The arranged parts of a complex operand, side by side.
template <typename T>
std::vector<Range<Wide<T>>> PartRanges(const OpContext& op, int64_t k, const DimList& dims) {
  const bool narrower = op.literal(k).element_type() == ElementType::kC64;
  const FactorError error = ErrorOfFactors(op, op.literal(k).element_type(), 0);
  const Array parts = Components(op.array(k));
  std::vector<Range<Wide<T>>> ranges;
  dims.ForEachPlace([&](int64_t at) {
    for (int64_t slot : {2 * at, 2 * at + 1}) {
      Range<Wide<T>> range;
      if (narrower) {
        const auto x = Seen<float>(op.clauses, parts, slot, Consumer::kSum);
        range = {x.centre, x.radius, x.flags};
        Blur<float>(error, range);
      } else {
        const auto x = Seen<double>(op.clauses, parts, slot, Consumer::kSum);
        range = {static_cast<Wide<T>>(x.centre), static_cast<Wide<T>>(x.radius), x.flags};
      }
      // The effect of infinities and NaN depends on the formula, which is free (operation
      // semantics, chapter 19).
      if ((range.flags & ~uint32_t{kZeroSignFree}) != 0) range = Range<Wide<T>>::Unknown();
      ranges.push_back(range);
    }
  });
  return ranges;
}

// Both parts of a sum of complex products are sums of twice as many real ones: of (a, b) with
// (c, -d), and with (d, c).
template <typename T>
void BoundComplex(const OpContext& op, const ProductSums& sums, Array& result) {
  using W = Wide<T>;
  ProductSums doubled;
  doubled.length = 2 * sums.length;
  doubled.column_size = 2 * sums.column_size;
  const std::vector<Range<W>> lhs = PartRanges<T>(op, 0, sums.lhs);
  std::vector<Range<W>> straight = PartRanges<T>(op, 1, sums.rhs), crossed = straight;
  for (size_t i = 0; i < straight.size(); i += 2) {
    straight[i + 1].centre = -straight[i + 1].centre;
    std::swap(crossed[i], crossed[i + 1]);
  }
  const FloatSums<T, T> real(op, doubled, lhs, std::move(straight));
  const FloatSums<T, T> imaginary(op, doubled, lhs, std::move(crossed));
  Array parts = Components(result);
  sums.for_each_block([&](const ProductSums::Block& block) {
    std::vector<ProductSums::Run> runs;
    for (const ProductSums::Run& run : block.runs) runs.push_back({2 * run.lhs, 2 * run.rhs});
    ProductSums::Block twice{2 * block.lhs,    2 * block.rhs,         block.columns,
                             2 * block.result, 2 * block.result_step, runs};
    real.BoundBlock(twice, parts);
    ++twice.result;
    imaginary.BoundBlock(twice, parts);
  });
  result.facts().bounds = std::move(parts.facts().bounds);
}

// Marks the arranged elements of an operand that are uncertain.
std::vector<bool> UncertainOf(const Array& operand, const DimList& dims) {
  std::vector<bool> uncertain;
  dims.ForEachPlace([&](int64_t at) { uncertain.push_back(operand.facts().choices.contains(at)); });
  return uncertain;
}

// An integer result is undecided where any of its factors is.
void BoundIntegers(const OpContext& op, const ProductSums& sums, Array& result) {
  const std::vector<bool> lhs = UncertainOf(op.array(0), sums.lhs);
  const std::vector<bool> rhs = UncertainOf(op.array(1), sums.rhs);
  sums.for_each_block([&](const ProductSums::Block& block) {
    for (int64_t c = 0; c < block.columns; ++c) {
      bool uncertain = false;
      sums.ForEachProduct(block, c,
                          [&](int64_t a, int64_t b) { uncertain = uncertain || lhs[a] || rhs[b]; });
      if (uncertain) SetUndecided(result, block.result + c * block.result_step);
    }
  });
}

}  // namespace

void BoundProductSums(const OpContext& op, const ProductSums& sums, Array& result) {
  if (op.type() == ElementType::kC64) return BoundComplex<float>(op, sums, result);
  if (op.type() == ElementType::kC128) return BoundComplex<double>(op, sums, result);
  if (!IsFloat(op.type())) {
    if (!AllCertain(op)) BoundIntegers(op, sums, result);
    return;
  }
  const AlgorithmError error = ErrorOf(op);
  // The type that the instruction has: narrow ones were widened before.
  const Shape& shape = op.instruction.shape();
  const bool is_narrow = shape.IsArray() && IsFloat(shape.element_type()) &&
                         Format(shape.element_type()).precision() < 8;
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Excess precision of a float of 8 bits is that of any wider type: f16 holds all of them.
    const bool in_half = is_narrow && op.clauses.Has(ClauseId::kExcessPrecision);
    if (!error.narrow_accumulator && in_half) {
      BoundFloats<T, Half>(op, sums, error.operand_error, result);
    } else if (!error.narrow_accumulator) {
      BoundFloats<T, Accumulator<T>>(op, sums, error.operand_error, result);
      const bool has_all_bits = error.operand_error == 0 && !HasNarrowFactors(op);
      if (has_all_bits) NarrowProductSums(op, sums, result);
    } else if (error.word == "dot_bf16_bf16_bf16") {
      BoundFloats<T, BFloat16>(op, sums, error.operand_error, result);
    } else {
      BoundFloats<T, Half>(op, sums, error.operand_error, result);
    }
  });
}

}  // namespace assay::reference
