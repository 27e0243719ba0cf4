// Bounds of the element-wise binary ops: the range of each op over the ranges of its operands, and
// the special cases that are narrower.
#pragma once

#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/binary_rules.h"
#include "reference/bounds/elementwise/float_loop.h"
#include "reference/bounds/elementwise/rewrite_error.h"
#include "reference/scalar/binary_ops.h"
#include "reference/values/elementwise.h"

namespace assay::reference {

inline bool IsPowerOfTwo(double x) {
  return (std::bit_cast<uint64_t>(x) << 12) == 0 && std::isnormal(x);
}
inline bool IsPowerOfTwo(long double x) {
  return static_cast<double>(x) == x && IsPowerOfTwo(static_cast<double>(x));
}

// Scaling by a power of two is exact and folds away: a product that may reach an addition unrounded
// may do so through it, as through a negation. True when that was all there is to say.
template <typename Rule, typename T>
bool BoundScaledProduct(const OpContext& op, Array& result, int64_t i) {
  using W = Wide<T>;
  if constexpr (Rule::kFirstScales || Rule::kSecondScales) {
    if (!op.clauses.Has(ClauseId::kContraction) || kIsNarrow<T> || AllCertain(op)) return false;
    if (Rule::ByRoot(op) || MayBeRewritten(op)) return false;
    const Range<W> a = Seen<T>(op.clauses, op.array(0), i, Consumer::kSum);
    const Range<W> b = Seen<T>(op.clauses, op.array(1), i, Consumer::kSum);
    const bool forced = Seen<T>(op.clauses, op.array(0), i).Single() &&
                        Seen<T>(op.clauses, op.array(1), i).Single();
    const bool scaled_a =
        Rule::kSecondScales && b.Single() && b.HasFinite() && IsPowerOfTwo(b.centre) && !a.Single();
    const bool scaled_b =
        Rule::kFirstScales && a.Single() && a.HasFinite() && IsPowerOfTwo(a.centre) && !b.Single();
    if (!forced || (!scaled_a && !scaled_b)) return false;
    FinishSingle<T>(op.clauses, result, i, RangeOf<Rule>(a, b), View::kSum);
    return true;
  }
  return false;
}

// Operands that are single numbers, at least one of them subnormal and perhaps read as zero. True
// when that was the case.
template <typename Rule, typename T>
bool BoundFlushedOperands(const OpContext& op, Array& result, int64_t i, double ulps) {
  using W = Wide<T>;
  if (!op.clauses.Has(ClauseId::kFlushSubnormals)) return false;
  const bool a = IsFlushable<T>(op.clauses, op.array(0), i);
  const bool b = IsFlushable<T>(op.clauses, op.array(1), i);
  if (!a && !b) return false;
  for (int64_t k : {0, 1}) {
    const Array& operand = op.array(k);
    if (!operand.facts().bounds.empty() && operand.facts().bounds[i].flags != kForced) return false;
  }
  Alternatives<T> values(Rule::kEnding == Ending::kFunction);
  for (W x : WithZero<W>(Widen<W>(op.literal(0).data<T>()[i]), a))
    for (W y : WithZero<W>(Widen<W>(op.literal(1).data<T>()[i]), b))
      values.AddPoint(Rule::Op::template Real<W>(x, y), ulps);
  values.Finish(result, i);
  return true;
}

// True if the op multiplies a number by itself: both factors are the same, whatever it is.
template <typename Rule>
bool IsSquare(const OpContext& op) {
  // The product of complex numbers is made of products of their parts, which are squares only where
  // both operands are the same part.
  const bool is_part = IsComplex(op.instruction.shape().element_type());
  return Rule::kFirstScales && op.instruction.operand(0) == op.instruction.operand(1) &&
         (!is_part || &op.array(0) == &op.array(1));
}

// Stores the square of an interval about zero: from exactly zero on, so that its root is a number.
// False for any other.
template <typename T>
bool BoundSquareAboutZero(const OpContext& op, Array& result, int64_t i,
                          const Range<Wide<T>>& range) {
  using W = Wide<T>;
  if (range.flags != 0 || range.radius == 0 || range.low() > 0 || range.high() < 0) return false;
  const W largest = std::max(-range.low(), range.high()) * (1 + kSlop<W>);
  const W high = RoundedToAnySize<T>(Range<W>{largest * largest, 0, 0}, 0).high() * (1 + kSlop<W>);
  if (!(largest * largest < OverflowThreshold<T>()) || !(high < OverflowThreshold<T>()))
    return false;
  // A double, so that centre and radius are the same number.
  const W half = std::nextafter(static_cast<double>(high / 2), HUGE_VAL);
  Store(result, i, Range<W>{half, half, kZeroSignFree},
        op.clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T> ? uint32_t{kMayFlush} : 0);
  return true;
}

// Power of operands that may be flushed. A base that is read as zero by one part of an
// implementation may be raised as a number below all others by the next: XLA:CPU gives 2^-75, the
// square root of 2^-150, for that of a subnormal number. So what the base may be is it, zero, and
// what lies between it and half the smallest number; the power is monotone there.
template <typename T>
bool BoundFlushedPower(const OpContext& op, Array& result, int64_t i, double ulps) {
  using W = Wide<T>;
  const bool base = IsFlushable<T>(op.clauses, op.array(0), i);
  const bool exponent = IsFlushable<T>(op.clauses, op.array(1), i);
  if (!base && !exponent) return false;
  for (int64_t k = 0; k < 2; ++k)
    if (!op.array(k).facts().bounds.empty() && op.array(k).facts().bounds[i].flags != kForced)
      return false;
  const W x = Widen<W>(op.literal(0).data<T>()[i]), y = Widen<W>(op.literal(1).data<T>()[i]);
  // bf16 is computed in f32.
  using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const W half_smallest = std::copysign(static_cast<W>(UlpAt<Computed>(0) / 4), x);
  // The root of a negative zero is one, although its power is not.
  Alternatives<T> values(/*keeps_sign=*/x > 0 || y == std::trunc(y));
  for (W power : WithZero<W>(y, exponent)) {
    const W bases[] = {x, std::copysign(W{0}, x), half_smallest};
    for (int k = 0; k < (base ? 3 : 1); ++k) {
      values.AddPoint(Power::Real<W>(bases[k], power),
                      PowerBound::IsExactAt(bases[k], power) ? 0 : ulps);
    }
  }
  values.Finish(result, i);
  return true;
}

// A quotient whose divisor may be read as zero beside what else it is: infinities or NaN beside
// numbers, not all that lies between. False where it may not.
template <typename T>
bool BoundQuotientByFlushed(const OpContext& op, Array& result, int64_t i) {
  using W = Wide<T>;
  if (!op.clauses.Has(ClauseId::kFlushSubnormals)) return false;
  const SeenApart<T> divisor(op.clauses, op.array(1), i);
  if (!divisor.or_zero || divisor.x.Undecided() || !divisor.x.HasFinite()) return false;
  if (divisor.x.Contains(0)) return false;
  const bool by_reciprocal = DivideBound::ByReciprocal(op);
  const double ulps = UlpsOf<T>(op);
  if (!by_reciprocal && BoundFlushedOperands<DivideBound, T>(op, result, i, ulps)) return true;
  const Range<W> a = Seen<T>(op.clauses, op.array(0), i);
  if (a.Undecided() || !a.HasFinite()) return false;
  Range<W> x = RangeOf<DivideBound>(a, divisor.x);
  if (x.Undecided()) return false;
  if (by_reciprocal) {
    x.radius += ReciprocalError<T>(a, divisor.x, x);
    // The reciprocal of the smallest numbers is infinite.
    if (1 / (std::fabs(divisor.x.centre) - divisor.x.radius) >= OverflowThreshold<T>())
      x = HullOf(x, DivideBound::ByZero(a, divisor.zero));
  }
  if (DividesByRoot(op)) x.radius += RootError<T>(op, a, divisor.x, x);
  if (MayBeRewritten(op)) x.radius += RewriteError<T>(op, a, divisor.x, x);
  x = Rounded<T>(HullOf(x, DivideBound::ByZero(a, divisor.zero)), 0);
  Store(result, i, x, TouchesSubnormals<T>(x) ? uint32_t{kMayFlush} : 0);
  return true;
}

template <typename T>
bool DivideBound::Special(const OpContext& op, Array& result, int64_t i, double) {
  return BoundQuotientByFlushed<T>(op, result, i);
}
template <typename T>
bool PowerBound::Special(const OpContext& op, Array& result, int64_t i, double ulps) {
  return BoundFlushedPower<T>(op, result, i, ulps);
}
template <typename T>
bool RemainderBound::Special(const OpContext& op, Array& result, int64_t i, double ulps) {
  return BoundFlushedOperands<RemainderBound, T>(op, result, i, ulps);
}
template <typename T>
bool Atan2Bound::Special(const OpContext& op, Array& result, int64_t i, double ulps) {
  return BoundFlushedOperands<Atan2Bound, T>(op, result, i, ulps);
}

// True if the reciprocal of a divisor is subnormal and may be flushed: a number divided by it may
// be zero then. (It is no licence for an infinity to become NaN, nor is one that overflows for a
// number to become infinite: a form in place of another may change digits.)
template <typename T>
bool MayFlushReciprocal(const OpContext& op, const Range<Wide<T>>& divisor) {
  return op.clauses.Has(ClauseId::kFlushSubnormals) && kFlushes<T> && divisor.HasFinite() &&
         1 / (std::fabs(divisor.centre) + divisor.radius) < Tiny<T>();
}

// Stores the bound of an op that may be made in another form: by a reciprocal, or because of what
// its operands are. False where it may not.
template <typename Rule, typename T>
bool BoundOtherForms(const OpContext& op, Array& result, int64_t i, const Range<Wide<T>>& a,
                     const Range<Wide<T>>& b) {
  using W = Wide<T>;
  const bool single = a.Single() && b.Single();
  const bool by_root = Rule::ByRoot(op);
  // That of a power of two is exact.
  const bool may_flush =
      (Rule::ByReciprocal(op) || InvertsFunction(op)) && MayFlushReciprocal<T>(op, b);
  const bool by_reciprocal =
      Rule::ByReciprocal(op) && (may_flush || !(single && IsPowerOfTwo(b.centre)));
  const bool is_rewritten = MayBeRewritten(op);
  if (!by_root && !by_reciprocal && !is_rewritten) return false;
  if (!a.HasFinite() || !b.HasFinite()) return false;
  if (single && Rule::kIsProduct && (b.centre == 0 || a.centre == 0)) return false;
  Range<W> x = RangeOf<Rule>(a, b);
  if (by_reciprocal && !x.Undecided()) x.radius += ReciprocalError<T>(a, b, x);
  if (by_root && !x.Undecided()) x.radius += RootError<T>(op, a, b, x);
  if (is_rewritten && !x.Undecided()) x.radius += RewriteError<T>(op, a, b, x);
  x = Rounded<T>(x, 0);
  const bool flush = op.clauses.Has(ClauseId::kFlushSubnormals) && TouchesSubnormals<T>(x);
  const bool or_zero = may_flush && !x.Undecided();
  Store(result, i, x, (flush ? uint32_t{kMayFlush} : 0) | (or_zero ? uint32_t{kMayBeZero} : 0));
  return true;
}

// Bounds the result of two single numbers. False if that is for the general rule to do.
template <typename Rule, typename T>
bool BoundSingles(const OpContext& op, Array& result, int64_t i, const Range<Wide<T>>& a,
                  const Range<Wide<T>>& b) {
  using W = Wide<T>;
  if constexpr (Rule::kEnding == Ending::kFunction) {
    return Rule::IsExactAt(Widen<W>(op.literal(0).data<T>()[i]),
                           Widen<W>(op.literal(1).data<T>()[i]));
  } else {
    Range<W> exact{0, 0, kNotFinite};
    if (a.HasFinite() && b.HasFinite()) {
      constexpr bool kHasExact = requires { &Rule::ExactOfDoubles; };
      if constexpr (kHasExact && std::is_same_v<T, double>) {
        exact = Rule::ExactOfDoubles(a.centre, b.centre, result.literal.data<double>()[i]);
      } else {
        exact = {Rule::Op::template Real<W>(a.centre, b.centre), 0, 0};
      }
      if (!std::isfinite(exact.centre)) exact.flags |= kNotFinite;
    }
    FinishSingle<T>(op.clauses, result, i, exact, Rule::kView);
    if constexpr (Rule::kChooses) {
      for (int64_t k : {0, 1}) PassOnSumView<T>(op.array(k), i, result, i);
    }
    return true;
  }
}

// Stores the bound of a result with these real values.
template <typename Rule, typename T>
void FinishByRule(const OpContext& op, Array& result, int64_t i, const Range<Wide<T>>& range,
                  double ulps) {
  if constexpr (Rule::kEnding == Ending::kFunction) {
    FinishFunction<T>(op.clauses, result, i, range, {ulps});
  } else if constexpr (Rule::kEnding == Ending::kRounded) {
    FinishRounded<T>(op.clauses, result, i, range, Rule::kView);
  } else if constexpr (Rule::kEnding == Ending::kStep) {
    FinishStep<T>(op.clauses, result, i, range);
  } else {
    FinishExact<T>(op.clauses, result, i, range);
  }
}

template <typename Rule, typename T>
void BoundBinaryElement(const OpContext& op, Array& result, int64_t i, double ulps) {
  using W = Wide<T>;
  if (Rule::template Special<T>(op, result, i, ulps)) return;
  const Range<W> a = Seen<T>(op.clauses, op.array(0), i, Rule::kConsumer);
  const Range<W> b = Seen<T>(op.clauses, op.array(1), i, Rule::kConsumer);
  const bool single = a.Single() && b.Single();
  if (single && BoundScaledProduct<Rule, T>(op, result, i)) return;
  if constexpr (Rule::kIsRewritable) {
    if (BoundOtherForms<Rule, T>(op, result, i, a, b)) return;
  }
  if (single && BoundSingles<Rule, T>(op, result, i, a, b)) return;
  if (IsSquare<Rule>(op) && BoundSquareAboutZero<T>(op, result, i, a)) return;
  Range<W> x = RangeOf<Rule>(a, b);
  if constexpr (std::is_same_v<Rule, PowerBound>) x.radius += JoinedPowerError<T>(op, x);
  FinishByRule<Rule, T>(op, result, i, x, ulps);
  if constexpr (Rule::kChooses) {
    if (!AreApart(a, b)) return;
    // One that is a single number may be what is certainly chosen.
    if (a.Single()) PassOnSumView<T>(op.array(0), i, result, i);
    if (b.Single()) PassOnSumView<T>(op.array(1), i, result, i);
  }
}

// True if the op leaves an element no choice where its operands leave none and nothing may be
// flushed.
template <typename Rule>
bool AddsNoChoice(const OpContext& op) {
  if (Rule::kEnding == Ending::kFunction) return false;
  if (Rule::kView == View::kSum && op.clauses.Has(ClauseId::kContraction)) return false;
  return !MayBeRewritten(op) && !Rule::ByReciprocal(op) && !Rule::ByRoot(op);
}

// True if the operands' elements in [begin, end) are forced and neither they nor the results may be
// flushed: then there is nothing to say of the results of an op that adds no choice.
template <typename T>
bool IsPlainBlock(const OpContext& op, const Array& result, int64_t begin, int64_t end) {
  for (int64_t k : {0, 1}) {
    const std::vector<ElementBound>& bounds = op.array(k).facts().bounds;
    if (bounds.empty()) continue;
    uint32_t different = 0;
    for (int64_t i = begin; i < end; ++i) different |= bounds[i].flags ^ uint32_t{kForced};
    if (different != 0) return false;
  }
  if (!op.clauses.Has(ClauseId::kFlushSubnormals) || !kFlushes<T>) return true;
  constexpr T kTiny = std::numeric_limits<T>::min();
  for (const Literal* literal : {&op.literal(0), &op.literal(1), &result.literal}) {
    const absl::Span<const T> values = literal->data<T>().subspan(begin, end - begin);
    if constexpr (std::is_same_v<T, float>) {
      if (AnySubnormal(values)) return false;
    } else {
      for (T x : values)
        if (std::fabs(x) <= kTiny && x != 0) return false;
    }
  }
  return true;
}

// Bounds the elements in [begin, end).
template <typename Rule, typename T>
void BoundBinaryBlock(const OpContext& op, Array& result, int64_t begin, int64_t end, double ulps) {
  if constexpr (std::is_same_v<T, float> && Rule::kHasFloatLoop) {
    if (!MayBeRewritten(op)) {
      int special[kBatch];
      for (int64_t at = begin; at < end; at += kBatch) {
        const int count = static_cast<int>(std::min<int64_t>(kBatch, end - at));
        const int specials = BoundFloatBatch<Rule>(op, result, at, count, special);
        for (int k = 0; k < specials; ++k)
          BoundBinaryElement<Rule, T>(op, result, at + special[k], ulps);
      }
      return;
    }
  }
  for (int64_t i = begin; i < end; ++i) BoundBinaryElement<Rule, T>(op, result, i, ulps);
}

template <typename Rule>
absl::Status BoundBinary(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) return BoundByEnumeration(op, result, EvaluateBinary<typename Rule::Op>);
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int64_t kBlock = 256;
    const bool free = !AddsNoChoice<Rule>(op);
    const double ulps = UlpsOf<T>(op);
    for (int64_t begin = 0; begin < op.count(); begin += kBlock) {
      const int64_t end = std::min(op.count(), begin + kBlock);
      if constexpr (!kIsNarrow<T>) {
        if (!free && IsPlainBlock<T>(op, result, begin, end)) continue;
      }
      BoundBinaryBlock<Rule, T>(op, result, begin, end, ulps);
    }
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
