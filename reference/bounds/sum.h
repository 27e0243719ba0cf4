// The bound of a sum of terms that may be added in any order. Document: operation semantics 1.7
// (class ORDER); design "Tolerances are derived, not guessed" (n-1 additions in any order, exact
// sums, overflow of partial sums).
#pragma once

#include "reference/bounds/elements.h"
#include "reference/bounds/partial_sums.h"

namespace assay::reference {

// Exponent of the lowest set bit of a finite, nonzero value.
inline int LowestBit(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{exponent != 0} << 52);
  return (exponent == 0 ? 1 : exponent) - 1075 + std::countr_zero(mantissa);
}
inline int LowestBit(long double x) {
  // Operands of f64 programs come from doubles; anything longer has its lowest bit in the rest.
  const double head = static_cast<double>(x);
  const long double rest = x - head;
  return rest == 0 ? LowestBit(head) : LowestBit(static_cast<double>(rest));
}

// Precision and least exponent of the accumulator for results of type T: f32 for everything
// narrower.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Half the spacing of the accumulator at a magnitude: the error of one addition.
template <typename A, typename W>
W HalfUlpAt(W magnitude) {
  if (magnitude == 0) return 0;
  using F = FormatOf<A>;
  return PowerOfTwo<W>(
      std::clamp(LeadingExponent(magnitude), F::kMinExponent, F::kMaxExponent + 1) - F::kPrecision);
}

template <typename T, typename A = Accumulator<T>>
class SumBound {
 public:
  using W = Wide<T>;

  // Finite products that were added up elsewhere and cannot overflow.
  struct ProductTotals {
    W sum = 0, magnitude = 0;  // of the products, and of their absolute values
    W size = 0;                // what was added up, ElementBound::magnitude of the factors included
    W largest = 0;             // the largest absolute value
    W propagated = 0;          // what the radii of the factors add in all
    int64_t terms = 0;         // products that are not zero
    bool single = false;       // all factors are single numbers; then
    int quantum = 0;           // all products are multiples of 2^quantum
  };
  // The bound of at least one product that is not zero.
  static SumBound OfProducts(const ProductTotals& totals) {
    SumBound result;
    result.sum_ = totals.sum;
    result.magnitude_ = totals.magnitude;
    result.size_ = std::max(totals.magnitude, totals.size);
    result.largest_ = totals.largest;
    result.propagated_ = totals.propagated;
    result.terms_ = result.products_ = totals.terms;
    result.all_single_ = totals.single;
    result.quantum_ = totals.quantum;
    return result;
  }

  // One term: a value (exact_product false) or a product that is rounded before it is added.
  // `size`: the ElementBound::magnitude that was noted for it.
  void Add(const Range<W>& term, bool rounded_product, double size = 0) {
    if (term.Undecided()) {
      undecided_ = true;
      all_single_ = false;
      return;
    }
    flags_ |= term.flags & (kMayBeNan | kMayBePosInf | kMayBeNegInf);
    if (!term.Single()) all_single_ = false;
    if (!term.HasFinite()) {
      all_finite_ = false;
      if ((term.flags & (kMayBeNan | kMayBePosInf | kMayBeNegInf)) != 0) never_finite_ = true;
      return;
    }
    if (term.centre == 0 && term.radius == 0) {
      negative_zero_ =
          negative_zero_ || std::signbit(term.centre) || (term.flags & kZeroSignFree) != 0;
      return;
    }
    if (terms_ < kFew) few_[terms_] = {term.centre, rounded_product};
    ++terms_;
    if (rounded_product) ++products_;
    sum_ += term.centre;
    const W magnitude = std::fabs(term.centre) + term.radius;
    magnitude_ += magnitude;
    size_ += std::max(magnitude, static_cast<W>(size));
    largest_ = std::max(largest_, magnitude);
    propagated_ += term.radius;
    if constexpr (kRoundsOften)
      steps_.Add(static_cast<double>(term.low()), static_cast<double>(term.high()));
    if (term.high() > 0) positive_ += term.high();
    if (term.low() < 0) negative_ -= term.low();
    if (term.radius == 0) quantum_ = std::min(quantum_, LowestBit(term.centre));
  }

  // The terms may be added up together with those of other sums, `all` in the end; 0: they are not.
  // What this sum has to do with the error of all additions is then its share of the magnitude.
  // Only an exact sum is told so: the bound of any other has room for the order of terms.
  void JoinSumOf(int64_t all, bool flush) {
    if (all == 0 || terms_ == 0 || !IsExact(flush)) return;
    const W growth = static_cast<W>(all) * UnitRoundoff<A>();
    propagated_ += growth * (1 + growth) * magnitude_;
    all_single_ = false;
  }

  // Additions may be rounded to either neighbour: each is off by another half of a unit.
  void RoundEitherWay(bool flush) {
    if (terms_ < 2 || IsExact(flush)) return;
    const W growth = static_cast<W>(terms_) * UnitRoundoff<A>();
    propagated_ += growth * (1 + growth) * magnitude_;
    all_single_ = false;
  }

  // True if every partial sum in every order is exact.
  bool IsExact(bool flush) const {
    using F = FormatOf<A>;
    if (!all_single_ || !all_finite_) return false;
    if (terms_ == 0) return true;
    const int least = flush && kFlushes<A> ? F::kMinExponent : F::kMinExponent - F::kPrecision + 1;
    if (quantum_ < least || quantum_ + F::kPrecision > F::kMaxExponent) return false;
    return magnitude_ <= PowerOfTwo<W>(quantum_ + F::kPrecision);
  }
  // One addition or one product: correctly rounded, whatever the order. A product that is rounded
  // to the accumulator first is rounded once only if its factors are no wider than the result.
  bool IsOneRounding() const {
    if (!all_single_ || !all_finite_ || Overflows()) return false;
    if (products_ == 0) return terms_ <= 2;
    if (terms_ != 1) return false;
    if constexpr (!std::is_same_v<T, double>) {
      if (magnitude_ > PowerOfTwo<W>(quantum_ + 2 * FormatOf<T>::kPrecision)) return false;
    }
    return true;
  }

  // Nothing but zeros, not all of them +0: the sign of the sum depends on the order, and on whether
  // the accumulator starts from +0.
  bool IsZeroOfEitherSign() const { return terms_ == 0 && negative_zero_; }

  W sum() const { return sum_; }
  // The sum of the absolute values of all terms.
  W magnitude() const { return magnitude_; }
  // The sum of the sizes that the terms themselves were made of.
  W size() const { return size_; }
  // True if the terms are known up to a rounding or two of their own.
  bool has_known_terms() const { return propagated_ <= 2 * UnitRoundoff<T>() * magnitude_; }
  bool all_single() const { return all_single_; }
  bool Overflows() const { return magnitude_ >= OverflowThreshold<A>(); }
  bool NonFiniteTerms() const { return flags_ != 0 || !all_finite_; }

  // The values that any order of additions in the accumulator gives.
  Range<W> Result(bool flush) const {
    if (undecided_) return Range<W>::Unknown();
    Range<W> x{sum_, 0, flags_};
    // Each addition is off by half a unit of its result at most, and a product is rounded once
    // before. No partial sum is larger than all terms of one sign together, and what errors add.
    const W additions = static_cast<W>(Additions());
    const W growth = (additions + (products_ > 0 ? 1 : 0)) * UnitRoundoff<A>();
    const W second_order = 1 + 2 * growth * (1 + growth);
    const W slop = static_cast<W>(terms_ + 1) * kSlop<W> * magnitude_;
    const W largest_partial =
        std::min(magnitude_, (magnitude_ + std::fabs(sum_)) / 2 + propagated_ + slop);
    const W most = largest_partial * second_order, term = largest_ * second_order;
    const W end = std::fabs(sum_) + propagated_ + slop + growth * second_order * magnitude_;
    W rounding = OfAdditions(most, term) - SavedAtTheEnd(most, term, end);
    if constexpr (kRoundsOften) {
      // Products are rounded before, which these do not know of.
      constexpr RoundedTo kFormat = {FormatOf<A>::kPrecision, FormatOf<A>::kMinExponent};
      if (products_ == 0 && steps_.count() == terms_)
        rounding = std::min<W>(
            rounding, steps_.LargestError(static_cast<double>(std::fabs(sum_) + propagated_ + slop),
                                          kFormat));
    }
    x.radius = propagated_ + slop + rounding;
    if (products_ > 0) x.radius += UnitRoundoff<A>() * second_order * magnitude_;
    // Products may underflow; partial sums only when subnormals are flushed. Those of f16 are not,
    // but the f32 that may take its place flushes its own.
    x.radius += (flush && kFlushes<A> ? Tiny<A>() : UlpAt<A>(0)) * static_cast<W>(products_);
    if (flush)
      x.radius +=
          (kFlushes<A> ? Tiny<A>() : static_cast<W>(Tiny<float>())) * static_cast<W>(terms_);
    x.radius = std::min(x.radius, RadiusOfFew());
    if (positive_ >= OverflowThreshold<A>()) x.flags |= kMayBePosInf;
    if (negative_ >= OverflowThreshold<A>()) x.flags |= kMayBeNegInf;
    if ((x.flags & kMayBePosInf) != 0 && (x.flags & kMayBeNegInf) != 0) x.flags |= kMayBeNan;
    if (never_finite_) x.flags |= kNotFinite;
    return Normalized(x);
  }

 private:
  // An accumulator that is as narrow as its terms.
  static constexpr bool kRoundsOften = kIsNarrow<A>;
  // Sums of so many numbers are tried out in every order.
  static constexpr int64_t kFew = 3;
  struct Term {
    W value = 0;
    bool is_product = false;
  };
  // The values between two ends.
  struct Span {
    W low, high;
  };
  // The values that an addition or a product may give: rounded to the accumulator, or kept exactly
  // in a wider one or a fused operation.
  static Span RoundedOrNot(Span x) {
    const W slop = std::max(std::fabs(x.low), std::fabs(x.high)) * kSlop<W>;
    return {std::min(x.low, Widen<W>(Round<A>(x.low - slop))),
            std::max(x.high, Widen<W>(Round<A>(x.high + slop)))};
  }
  static Span Plus(Span a, Span b) {
    const W slop =
        (std::fabs(a.low) + std::fabs(a.high) + std::fabs(b.low) + std::fabs(b.high)) * kSlop<W>;
    return RoundedOrNot({a.low + b.low - slop, a.high + b.high + slop});
  }
  // The largest distance of a sum of a few single numbers, in any order, from the exact one;
  // infinite for more of them, and for numbers so small or large that something may be flushed or
  // overflow.
  W RadiusOfFew() const {
    constexpr W kUnknown = std::numeric_limits<W>::infinity();
    if (!std::is_same_v<A, float> || terms_ < 2 || terms_ > kFew || flags_ != 0) return kUnknown;
    if (!all_single_ || !all_finite_) return kUnknown;
    Span terms[kFew];
    for (int64_t k = 0; k < terms_; ++k) {
      const W value = few_[k].value, size = std::fabs(value);
      if (!(size >= W{0x1p-50} && size <= W{0x1p100})) return kUnknown;
      terms[k] = few_[k].is_product ? RoundedOrNot({value, value}) : Span{value, value};
    }
    W radius = 0;
    for (int64_t last = 0; last < terms_; ++last) {
      Span sum = terms[(last + 1) % terms_];
      for (int64_t k = 2; k < terms_; ++k) sum = Plus(sum, terms[(last + k) % terms_]);
      sum = Plus(sum, terms[last]);
      radius = std::max({radius, sum.high - sum_, sum_ - sum.low});
    }
    return radius + magnitude_ * 4 * kSlop<W>;
  }

  int64_t Additions() const { return std::max<int64_t>(terms_ - 1, 0); }

  // The error of all additions together, where no partial sum is larger than `most` and no term
  // larger than `term`. In every order at least k of the partial sums have at most k + 1 terms: of
  // the trees over n leaves the one with the largest subtrees is the chain.
  W OfAdditions(W most, W term) const {
    W error = 0;
    for (int64_t k = 1, last; k <= Additions(); k = last + 1) {
      const W partial = std::min(most, static_cast<W>(k + 1) * term);
      const W half_ulp = HalfUlpAt<A>(partial);
      last = Additions();
      // All partial sums of the same exponent at once; beyond the largest there is no next one.
      const W next = half_ulp * PowerOfTwo<W>(FormatOf<A>::kPrecision + 1);
      if (partial < most && partial < next) {
        const W until = std::ceil(next / term) - 2;
        if (until < static_cast<W>(last)) last = std::max(k, static_cast<int64_t>(until));
      }
      error += half_ulp * static_cast<W>(last - k + 1);
    }
    return error;
  }

  // By so much that is smaller because the last partial sums are close to the whole sum, which is
  // at most `end`: one that lacks j terms is no larger than end + j * term. Of all trees the chain
  // has the most partial sums above any value: those that lack at least b terms and have at least
  // a, b < a, are at most n - a - b + 1, whether they lie in one subtree or in several.
  W SavedAtTheEnd(W most, W term, W end) const {
    const W half_most = HalfUlpAt<A>(most), full = std::ceil(most / term);
    if (!(full < static_cast<W>(terms_))) return 0;
    // Partial sums that lack more terms than these may be small for having few.
    const int64_t lacking = terms_ - static_cast<int64_t>(full);
    end = std::max(end, term);  // so that b < a
    W saved = 0;
    for (int64_t j = 0, last; j <= lacking; j = last + 1) {
      const W half_ulp = HalfUlpAt<A>(end + static_cast<W>(j) * term);
      if (half_ulp >= half_most) break;
      const W next = half_ulp * PowerOfTwo<W>(FormatOf<A>::kPrecision + 1);
      const W until = std::ceil((next - end) / term) - 1;
      last = until < static_cast<W>(lacking) ? std::max(j, static_cast<int64_t>(until)) : lacking;
      saved += (half_most - half_ulp) * static_cast<W>(last - j + 1);
    }
    return saved;
  }

  W sum_ = 0, magnitude_ = 0, size_ = 0, largest_ = 0, propagated_ = 0, positive_ = 0,
    negative_ = 0;
  int64_t terms_ = 0, products_ = 0;
  Term few_[kFew];
  struct Nothing {};
  std::conditional_t<kRoundsOften, PartialSums, Nothing> steps_;
  int quantum_ = 1 << 20;
  uint32_t flags_ = 0;
  bool negative_zero_ = false, all_single_ = true, all_finite_ = true, never_finite_ = false,
       undecided_ = false;
};

// Stores the bound of element i, which is that sum rounded to T.
template <typename T, typename A = Accumulator<T>>
void StoreSum(ClauseSet clauses, Array& result, int64_t i, const SumBound<T, A>& sum, View view) {
  using W = Wide<T>;
  const W plain = Widen<W>(result.literal.data<T>()[i]);
  if (sum.IsExact(clauses.Has(ClauseId::kFlushSubnormals)) || sum.IsOneRounding()) {
    if (plain == 0 && (std::signbit(plain) || sum.IsZeroOfEitherSign())) {
      Range<W> zero{plain, 0, kZeroSignFree};
      // Only in this type may the sum be one.
      if (kIsNarrow<T> && clauses.Has(ClauseId::kExcessPrecision))
        zero = HullOf(zero, Range<W>{sum.sum(), 0, 0});
      Store(result, i, zero, 0);
      return;
    }
    FinishSingle<T>(clauses, result, i, {sum.sum(), 0, 0}, view);
    // A flushed term is a zero that is added to others.
    if (!result.facts().bounds.empty()) result.facts().bounds[i].flags &= ~kZeroSigns;
    return;
  }
  if (sum.all_single() && sum.NonFiniteTerms() && !sum.Overflows()) return;  // forced NaN or inf
  const Range<W> x = sum.Result(clauses.Has(ClauseId::kFlushSubnormals));
  if constexpr (kIsNarrow<T>) {
    FinishRounded<T>(clauses, result, i, x, view);
  } else {
    FinishExact<T>(clauses, result, i, WithOverflow<T>(x));
  }
}

// Stores that bound with the magnitude of what was added up.
template <typename T, typename A = Accumulator<T>>
void FinishSum(ClauseSet clauses, Array& result, int64_t i, const SumBound<T, A>& sum, View view) {
  StoreSum<T, A>(clauses, result, i, sum, view);
  if (result.facts().bounds.empty()) return;
  result.facts().bounds[i].set_magnitude(static_cast<double>(sum.size()), sum.has_known_terms());
}

}  // namespace assay::reference
