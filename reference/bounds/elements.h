// The uncertainty of single elements of arrays: reading it as an operand, writing, moving and
// merging it.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "reference/bounds/range.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// Most candidate values kept for an integer result; with more the element is undecided.
inline constexpr size_t kMaxChoices = 8;
// Most elements that may change places and are kept as candidates of each other: the ties of a
// sort.
inline constexpr size_t kMaxTies = 64;

// Floats have a bound per element and complex numbers one per part; element i owns the bounds from
// i * BoundsPerElement on, its slots. Functions that take slots say so, all others count elements.

// Gives an array of floats or complex numbers its bounds, all forced; does nothing for other types.
void MakeBounds(Array& result);
// Makes every element undecided.
void MakeUndecided(Array& result);
void SetUndecided(Array& result, int64_t i);

// Gives element `to` the error form of element `from` of `source`; without one, nothing is known of
// its error beside the bound.
void MoveForm(const Array& source, int64_t from, Array& result, int64_t to);
inline void DropForm(Array& result, int64_t i) {
  if (!result.facts().forms.empty()) result.facts().forms[i] = {};
}

// Copies the description of element `from` of `source` to element `to` of `result`.
void MoveBound(const Array& source, int64_t from, Array& result, int64_t to);
// Element `to` may from now on also be whatever element `from` of `source` may be.
void HullWith(const Array& source, int64_t from, Array& result, int64_t to);
// Does HullWith for every element.
void HullArrays(const Array& source, Array& result);
// True if the bits of element i are known: forced, and no NaN, whose bits are free unless they came
// here by moves alone.
bool HasKnownCode(const Array& array, int64_t i, bool moved_only);
// True if floats of the type may be compared in a wider one, which loses the payload of their NaNs:
// in the total order those of one sign may tie.
bool MayLosePayload(ClauseSet clauses, ElementType type);
// True if nothing is known of element i.
bool IsUndecided(const Array& array, int64_t i);
// True if element i of both is described alike.
bool SameBound(const Array& a, const Array& b, int64_t i);
// True if an op may read float element i in excess precision.
bool IsSeenUnrounded(const Array& array, int64_t i);
// True if a value is a constant or an argument of the module, moved at most.
bool IsMovedOnly(const Instruction& instruction);
// Gives element `to` the description of element `from` with its bits read as another type.
void ReinterpretBound(const Array& source, int64_t from, Array& result, int64_t to,
                      bool moved_only);

// The codes that a non-float element may be; empty: undecided. A predicate always has some.
std::vector<uint64_t> CodesOf(const Array& array, int64_t i);
// Sets the codes of an element. The plain code alone needs no entry; with too many codes, or none,
// the element is undecided.
void SetCodes(Array& result, int64_t i, std::vector<uint64_t> codes);

// A product that may reach an addition unrounded may do so through an op that only chooses it:
// compilers make that a choice between sums. Slot `to` of the result, which is a single number, can
// be read as slot `from` of the operand can, if that is the same number.
template <typename T>
void PassOnSumView(const Array& operand, int64_t from, Array& result, int64_t to) {
  if constexpr (kIsNarrow<T>) return;  // any op may read those
  if (operand.facts().bounds.empty() || (operand.facts().bounds[from].flags & kSumView) == 0)
    return;
  if (operand.literal.GetBits(from) != result.literal.GetBits(to)) return;
  MoveBound(operand, from, result, to);
}

// Stores the bound of slot i.
template <typename W>
void Store(Array& result, int64_t i, const Range<W>& unnormalized, uint32_t more_flags) {
  Range<W> x = Normalized(unnormalized);
  if (result.facts().bounds.empty()) MakeBounds(result);
  DropForm(result, i);
  ElementBound& bound = result.facts().bounds[i];
  // Products that additions may read unrounded can lie beyond double, where only long double holds
  // them: two doubles hold twice the largest one, which nothing that is added brings back.
  constexpr auto kMost = static_cast<W>(std::numeric_limits<double>::max());
  const bool is_beyond = std::fabs(x.centre) > kMost;
  if (is_beyond && std::fabs(x.centre) - x.radius >= 2 * kMost)
    x = {std::copysign(2 * kMost, x.centre), 0, x.flags};
  bound.centre = static_cast<double>(std::clamp<W>(x.centre, -kMost, kMost));
  bound.centre_low = static_cast<double>(x.centre - static_cast<W>(bound.centre));
  // Two doubles do not hold a centre that is subnormal.
  x.radius += std::fabs(x.centre - static_cast<W>(bound.centre) - static_cast<W>(bound.centre_low));
  bound.radius = static_cast<double>(x.radius);
  if (static_cast<W>(bound.radius) < x.radius)
    bound.radius = std::nextafter(bound.radius, std::numeric_limits<double>::infinity());
  bound.flags = x.flags | more_flags;
  if (!std::isfinite(bound.centre) || !std::isfinite(bound.radius)) {
    // Beyond double: only long double got there.
    bound = {0, 0, 0, (more_flags & kForced) | kUndecided | (more_flags & (kSumView | kAnyView))};
  }
}

// The kind of op that reads a forced operand: it decides which unrounded value may be read.
enum class Consumer { kSum, kOther };

// The interval of a bound, with what else it may be.
template <typename W>
Range<W> RangeOfBound(const ElementBound& bound) {
  W radius = static_cast<W>(bound.radius);
  // The trailing part of a centre does not fit a double.
  if (std::is_same_v<W, double> && bound.centre_low != 0) {
    radius = std::nextafter(radius + static_cast<W>(std::fabs(bound.centre_low)),
                            std::numeric_limits<W>::infinity());
  }
  return {bound.Value<W>(), radius, bound.flags & kSpecialFlags};
}

// The values that an arithmetic op may read of an element with a bound, but for a zero that
// kMayBeZero names.
template <typename T>
Range<Wide<T>> StoredBound(const Array& array, int64_t i, Consumer consumer) {
  using W = Wide<T>;
  const ElementBound& bound = array.facts().bounds[i];
  const uint32_t views = consumer == Consumer::kSum ? uint32_t{kSumView} | kAnyView : kAnyView;
  if ((bound.flags & kForced) != 0 && (bound.flags & views) == 0)
    return Point<T>(array.literal.data<T>()[i]);
  const Range<W> x = RangeOfBound<W>(bound);
  if constexpr (kIsNarrow<T>) return x;
  // Additions alone may read a product before it is rounded, and so before it overflows.
  const bool may_overflow = (bound.flags & (kMayBePosInf | kMayBeNegInf)) != 0;
  return may_overflow && consumer != Consumer::kSum ? WithinRange<T>(x) : x;
}
template <typename T>
Range<Wide<T>> SeenBound(const Array& array, int64_t i, Consumer consumer) {
  const Range<Wide<T>> x = StoredBound<T>(array, i, consumer);
  if ((array.facts().bounds[i].flags & kMayBeZero) == 0) return x;
  return HullOf(x, Range<Wide<T>>{0, 0, kZeroSignFree});
}

// The values that an arithmetic op may read for element i of an operand of type T.
template <typename T>
inline Range<Wide<T>> Seen(ClauseSet clauses, const Array& array, int64_t i,
                           Consumer consumer = Consumer::kOther) {
  const Range<Wide<T>> x = array.facts().bounds.empty() ? Point<T>(array.literal.data<T>()[i])
                                                        : SeenBound<T>(array, i, consumer);
  return clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x) ? Flushed<T>(x) : x;
}

// The values that an op may read of an element, in two parts: an interval, and whether a zero
// beside it may be read instead, by flushing. For ops that tell the two far apart.
template <typename T>
struct SeenApart {
  using W = Wide<T>;
  Range<W> x;
  bool or_zero = false;
  Range<W> zero;

  SeenApart(ClauseSet clauses, const Array& array, int64_t i)
      : x(array.facts().bounds.empty() ? Point<T>(array.literal.data<T>()[i])
                                       : StoredBound<T>(array, i, Consumer::kOther)) {
    const bool stored =
        !array.facts().bounds.empty() && (array.facts().bounds[i].flags & kMayBeZero) != 0;
    const bool flushed =
        clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x) && !x.Contains(0);
    or_zero = stored || flushed;
    zero = {std::copysign(W{0}, x.centre), 0, stored ? uint32_t{kZeroSignFree} : 0};
    if (clauses.Has(ClauseId::kFlushSubnormals) && !flushed) x = Flushed<T>(x);
  }
};

// True if element i is one subnormal number that an op may read as zero.
template <typename T>
bool IsFlushable(ClauseSet clauses, const Array& array, int64_t i) {
  if (!clauses.Has(ClauseId::kFlushSubnormals) || !kFlushes<T>) return false;
  if (!array.facts().bounds.empty() && array.facts().bounds[i].flags != kForced) return false;
  const auto x = Widen<Wide<T>>(array.literal.data<T>()[i]);
  return x != 0 && std::fabs(x) < Tiny<T>();
}

// A union of few sets, kept apart where one of them is zero: the results for an operand that is
// either a subnormal number or zero are no interval.
template <typename T>
class Alternatives {
 public:
  using W = Wide<T>;
  // Functions whose zeros have the sign of what underflowed (`keeps_sign`) keep it where all of the
  // alternatives have the same.
  explicit Alternatives(bool keeps_sign = false) : zero_signs_(keeps_sign ? kZeroSigns : 0) {}
  // The values of a function at one point, `ulps` off at most.
  void AddPoint(W value, double ulps) {
    if (!std::isnan(value)) zero_signs_ &= std::signbit(value) ? kNoPositiveZero : kNoNegativeZero;
    if (value == 0) {
      zero_ = true;
    } else if (std::isnan(value)) {
      rest_ = HullOf(rest_, Range<W>{0, 0, kNotFinite | kMayBeNan});
    } else {
      rest_ = HullOf(rest_, Rounded<T>(Normalized(Range<W>{value, 0, 0}), ulps));
    }
  }
  void Finish(Array& result, int64_t i) const {
    const uint32_t flush = TouchesSubnormals<T>(rest_) ? uint32_t{kMayFlush} : 0;
    if (rest_.flags == kNotFinite) {
      Store(result, i, Range<W>{0, 0, kZeroSignFree}, zero_signs_);
    } else {
      Store(result, i, rest_, flush | (zero_ ? uint32_t{kMayBeZero} : 0) | zero_signs_);
    }
  }

 private:
  Range<W> rest_{0, 0, kNotFinite};
  bool zero_ = false;
  uint32_t zero_signs_;
};

// A number, and the zero that may be read instead of it.
template <typename W>
struct WithZero {
  W values[2];
  int count;
  WithZero(W x, bool flushable) : values{x, std::copysign(W{0}, x)}, count(flushable ? 2 : 1) {}
  const W* begin() const { return values; }
  const W* end() const { return values + count; }
};

// The ways in which a result may differ from the real value of its op, beside rounding.
enum class View {
  kNone,
  kSum,  // a product: additions may see it unrounded
};

// True if hardware that flushes may give zero for a result that is rounded to the least normal
// number: it asks whether a result is subnormal before rounding it to the spacing of subnormals.
template <typename T>
bool MayFlushBeforeRounding(ClauseSet clauses, Wide<T> plain, const Range<Wide<T>>& exact) {
  return clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T> && std::fabs(plain) == Tiny<T>() &&
         (exact.flags & kNotFinite) == 0 && std::fabs(exact.centre) < Tiny<T>();
}

// The plain value is right: stores only what else the clauses permit. `exact` is the real value
// before rounding.
template <typename T>
void FinishSingle(ClauseSet clauses, Array& result, int64_t i, const Range<Wide<T>>& exact,
                  View view) {
  using W = Wide<T>;
  const W plain = Widen<W>(result.literal.data<T>()[i]);
  if (MayFlushBeforeRounding<T>(clauses, plain, exact)) {
    Store(result, i, Range<W>{plain, 0, 0},
          kMayBeZero | (plain > 0 ? uint32_t{kNoNegativeZero} : uint32_t{kNoPositiveZero}));
    return;
  }
  const bool subnormal = clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T> && plain != 0 &&
                         std::fabs(plain) < Tiny<T>();
  uint32_t view_flag = 0;
  if (kIsNarrow<T> && clauses.Has(ClauseId::kExcessPrecision)) {
    view_flag = kAnyView;
  } else if (view == View::kSum && clauses.Has(ClauseId::kContraction)) {
    view_flag = kSumView;
  }
  const bool has_view = view_flag != 0 && exact.HasFinite() && !exact.Undecided() &&
                        !(exact.centre == plain && exact.radius == 0);
  if (!subnormal && !has_view) return;
  Range<W> x{plain, 0, 0};
  if (has_view) {
    x = exact;
    // The unrounded value is one of the wider type in which it is kept.
    if (kIsNarrow<T>) x.radius += std::fabs(x.centre) * W{0x1p-24};
    x.radius += std::fabs(x.centre) * kSlop<W>;
    if (std::isfinite(plain)) {
      x.radius = std::max(x.radius, std::fabs(x.centre - plain));
    } else if (std::isinf(plain)) {
      x.flags |= plain > 0 ? kMayBePosInf : kMayBeNegInf;
    }
  }
  Store(result, i, x, subnormal ? uint32_t{kMayFlush} : kForced | view_flag);
}

// For a correctly rounded op whose operands are not single: `exact` is the range of real values.
template <typename T>
void FinishRounded(ClauseSet clauses, Array& result, int64_t i, Range<Wide<T>> exact, View view) {
  using W = Wide<T>;
  exact = Normalized(exact);
  const bool keeps_view = (kIsNarrow<T> && clauses.Has(ClauseId::kExcessPrecision)) ||
                          (view == View::kSum && clauses.Has(ClauseId::kContraction));
  Range<W> x = exact;
  if (keeps_view && !kIsNarrow<T>) {
    x = FlagOverflow<T>(RoundedToAnySize<T>(exact, 0));
  } else if (keeps_view || !exact.HasFinite() || exact.Undecided()) {
    x = Rounded<T>(exact, 0);
  } else {
    // The images of the ends and what lies between.
    const W slop = (std::fabs(exact.centre) + exact.radius) * kSlop<W>;
    const W low = Widen<W>(Round<T>(exact.low() - slop));
    const W high = Widen<W>(Round<T>(exact.high() + slop));
    const uint32_t overflow = (high > 0 && std::isinf(high) ? uint32_t{kMayBePosInf} : 0) |
                              (low < 0 && std::isinf(low) ? uint32_t{kMayBeNegInf} : 0);
    if (overflow == 0) {
      x = Range<W>::Hull(low, high);
      if (low == high) {
        x.centre = low;
        if (low == 0) x.flags |= kZeroSignFree;
      }
      x.flags |= exact.flags;
    } else {
      x = Rounded<T>(exact, 0);
      x.flags |= overflow;
    }
  }
  const bool flush = clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x);
  const T plain = result.literal.data<T>()[i];
  if (!flush && x.radius == 0 && x.flags == 0 && x.centre == Widen<W>(plain)) return;  // forced
  Store(result, i, x, flush ? uint32_t{kMayFlush} : 0);
}

// For an op without rounding (moves along the number line: maximum, negate, floor, ...).
template <typename T>
void FinishExact(ClauseSet clauses, Array& result, int64_t i, Range<Wide<T>> x) {
  x = Normalized(x);
  const bool flush = clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x);
  if (x.radius == 0 && x.centre == 0 && x.HasFinite()) x.flags |= kZeroSignFree;
  Store(result, i, x, flush ? uint32_t{kMayFlush} : 0);
}

// For an op without rounding that does not commute with rounding either (floor, remainder, ...): of
// an operand in excess precision it may give a value that its type does not hold, which is rounded
// later.
template <typename T>
void FinishStep(ClauseSet clauses, Array& result, int64_t i, Range<Wide<T>> x) {
  if (kIsNarrow<T> && clauses.Has(ClauseId::kExcessPrecision)) {
    FinishRounded<T>(clauses, result, i, x, View::kNone);
  } else {
    FinishExact<T>(clauses, result, i, x);
  }
}

// A function may be off by so many ulps, but never be beyond its range.
struct FunctionBudget {
  double ulps = 0;
  double range_low = -std::numeric_limits<double>::infinity();
  double range_high = std::numeric_limits<double>::infinity();
};

// The zeros that a function may not give for real values of one sign, which underflow to zeros of
// that sign.
template <typename W>
uint32_t ZeroSignsOf(const Range<W>& exact, const FunctionBudget& budget) {
  if (budget.range_low >= 0) return kNoNegativeZero;
  if (!exact.HasFinite() || exact.Undecided() || (exact.flags & kZeroSignFree) != 0) return 0;
  if (exact.low() > 0) return kNoNegativeZero;
  return exact.high() < 0 ? uint32_t{kNoPositiveZero} : 0;
}

// The number of the type that lies `codes` codes above x (below, if negative).
template <typename T>
T MovedByCodes(T x, int codes) {
  static_assert(sizeof(T) == 2);
  constexpr int kMagnitude = 0x7FFF;
  const int bits = std::bit_cast<uint16_t>(x), magnitude = bits & kMagnitude;
  const int infinity =
      std::bit_cast<uint16_t>(Round<T>(std::numeric_limits<double>::infinity())) & kMagnitude;
  const int moved =
      std::clamp((bits > kMagnitude ? -magnitude : magnitude) + codes, -infinity, infinity);
  return std::bit_cast<T>(static_cast<uint16_t>(moved < 0 ? kMagnitude + 1 - moved : moved));
}

// The values of a function that is computed wider and rounded once: so many codes beside the
// roundings of the real values (operation semantics 1.6 counts codes, which are closer below a
// power of two than above it). False next to infinities.
template <typename T>
bool RoundedInCodes(const Range<Wide<T>>& exact, double ulps, Range<Wide<T>>& x) {
  using W = Wide<T>;
  if (!exact.HasFinite() || exact.Undecided() || std::isnan(exact.centre)) return false;
  const W slop = (std::fabs(exact.centre) + exact.radius) * kSlop<W>;
  const int codes = static_cast<int>(std::ceil(ulps));
  const W low = Widen<W>(MovedByCodes<T>(Round<T>(exact.low() - slop), -codes));
  const W high = Widen<W>(MovedByCodes<T>(Round<T>(exact.high() + slop), codes));
  if (!std::isfinite(low) || !std::isfinite(high)) return false;
  x = Range<W>::Hull(low, high);
  x.flags = exact.flags;
  return true;
}

// Takes out of the values of a function, which are `exact` before they are rounded and of one
// sign, what lies between zero and the least number of the type. What rounds to zero is zero,
// however many ulps are granted. Returns the flag that says whether zero is beside what is left.
template <typename T>
uint32_t ApartFromZero(const Range<Wide<T>>& exact, uint32_t zeros, Range<Wide<T>>& values) {
  using W = Wide<T>;
  if (kIsNarrow<T> || zeros == 0 || !exact.HasFinite() || exact.Undecided() || values.Undecided())
    return 0;
  const bool positive = zeros == kNoNegativeZero;
  const W sign = positive ? 1 : -1, least = UlpAt<T>(0);
  const W most = positive ? exact.high() : -exact.low();
  if (most < least / 2) {
    values = {std::copysign(W{0}, sign), 0, values.flags & ~kNotFinite};
    return 0;
  }
  const W from = positive ? values.low() : -values.high(),
          to = positive ? values.high() : -values.low();
  if (!values.HasFinite() || from >= least) return 0;
  const uint32_t flags = values.flags;
  const W farthest = std::max(to, least);
  values = positive ? Range<W>::Hull(least, farthest) : Range<W>::Hull(-farthest, -least);
  values.flags = flags;
  return from <= 0 ? uint32_t{kMayBeZero} : 0;
}

// For a function with an error budget: `exact` is the range of real values.
template <typename T>
void FinishFunction(ClauseSet clauses, Array& result, int64_t i, Range<Wide<T>> exact,
                    const FunctionBudget& budget) {
  using W = Wide<T>;
  Range<W> x;
  bool is_done = false;
  if constexpr (kIsNarrow<T>) is_done = RoundedInCodes<T>(exact, budget.ulps, x);
  if (!is_done) x = Rounded<T>(exact, budget.ulps);
  uint32_t zeros = ZeroSignsOf(exact, budget);
  // Numbers beyond the range of the function, or of the other sign, are no answer, however many
  // ulps are granted.
  const double least =
      zeros == kNoNegativeZero ? std::max(budget.range_low, 0.0) : budget.range_low;
  const double most =
      zeros == kNoPositiveZero ? std::min(budget.range_high, 0.0) : budget.range_high;
  if (x.HasFinite() && !x.Undecided() && (x.low() < least || x.high() > most)) {
    const uint32_t flags = x.flags;
    x = Range<W>::Hull(std::max<W>(x.low(), least), std::min<W>(x.high(), most));
    x.radius += std::fabs(x.centre) * kSlop<W>;
    x.flags = flags;
  }
  const uint32_t or_zero = ApartFromZero<T>(exact, zeros, x);
  const bool flush = clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x);
  // Few values may be a zero: only of those it is asked which one.
  if (x.Undecided() || (!flush && or_zero == 0 && !x.Contains(0))) zeros = 0;
  Store(result, i, x, (flush ? uint32_t{kMayFlush} : 0) | or_zero | zeros);
}

// The ulps that the profile of `op` grants to an opcode, or to its own, on T.
template <typename T>
double UlpsOf(const OpContext& op, Opcode opcode);
template <typename T>
double UlpsOf(const OpContext& op) {
  return UlpsOf<T>(op, op.instruction.opcode());
}

// Bounds of an op on integers and predicates by trying every combination of the operands' codes
// with `evaluate`, its plain evaluation.
absl::Status BoundByEnumeration(const OpContext& op, Array& result, EvaluateFn evaluate);

template <EvaluateFn kEvaluate>
absl::Status BoundNonFloat(const OpContext& op, Array& result) {
  return BoundByEnumeration(op, result, kEvaluate);
}

// Calls f(TypeTag<T>) for a float type that is computed.
template <typename F>
void DispatchReal(ElementType type, F f) {
  DispatchComputed(type, [&](auto tag) {
    if constexpr (kIsReal<typename decltype(tag)::type>) f(tag);
  });
}

inline bool AllCertain(const OpContext& op) {
  return std::all_of(op.operands.begin(), op.operands.end(),
                     [](const Value* value) { return value->array->Certain(); });
}

}  // namespace assay::reference
