// Bounds of the element-wise unary ops.
#pragma once

#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/float_loop.h"
#include "reference/scalar/unary_ops.h"
#include "reference/values/elementwise.h"

namespace assay::reference {

absl::Status BoundAbs(const OpContext& op, Array& result);
absl::Status BoundNegate(const OpContext& op, Array& result);
absl::Status BoundIsFinite(const OpContext& op, Array& result);
absl::Status BoundTan(const OpContext& op, Array& result);

// The square root as a function; its op is correctly rounded (a budget of 0 ulps), but for GPUs.
struct SqrtFunction : Function {
  static constexpr double kDomainLow = 0;
  static constexpr double kRangeLow = 0;
  template <typename W>
  static W Real(W x) {
    return std::sqrt(x);
  }
};

// Bounds step functions that never fall: sign, floor, ceil and the roundings. They have no rounding
// error of their own.
template <typename Op>
absl::Status BoundStep(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) return BoundByEnumeration(op, result, EvaluateUnary<Op>);
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for (int64_t i = 0; i < op.count(); ++i) {
      if (IsFlushable<T>(op.clauses, op.array(0), i)) {
        Alternatives<T> values;
        for (W x : WithZero<W>(Widen<W>(op.literal(0).data<T>()[i]), true))
          values.AddPoint(Op::template Real<W>(x), 0);
        values.Finish(result, i);
        continue;
      }
      const Range<W> x = Seen<T>(op.clauses, op.array(0), i);
      if (x.Single()) continue;
      if (!x.HasFinite() || x.Undecided()) {
        Range<W> y = x;
        if (std::is_same_v<Op, Sign> && !x.Undecided())
          y = {0, 1, x.flags & kMayBeNan};  // infinities have signs too
        Store(result, i, y, 0);
        continue;
      }
      const W slop = std::fabs(x.centre) * kSlop<W>;
      Range<W> y = Range<W>::Hull(Op::template Real<W>(x.low() - slop),
                                  Op::template Real<W>(x.high() + slop));
      y.flags = x.flags;
      if (std::is_same_v<Op, Sign>) {
        if ((x.flags & (kMayBePosInf | kMayBeNegInf)) != 0) y = {0, 1, x.flags & kMayBeNan};
      }
      FinishStep<T>(op.clauses, result, i, y);
    }
  });
  return absl::OkStatus();
}

// The range of |x| for every x inside.
template <typename W>
Range<W> MagnitudeOf(Range<W> x) {
  uint32_t flags = x.flags & ~uint32_t{kMayBeNegInf | kZeroSignFree};
  if ((x.flags & kMayBeNegInf) != 0) flags |= kMayBePosInf;
  if (x.HasFinite() && !x.Undecided()) {
    if (x.high() <= 0) {
      x.centre = std::fabs(x.centre);
    } else if (x.low() < 0) {
      x = Range<W>::Hull(0, std::max(-x.low(), x.high()));
    }
  }
  x.flags = flags;
  return x;
}

// The range of a monotone function over `x`. Arguments outside its domain may be read: NaN.
template <typename Op, typename W>
Range<W> MonotoneRange(const Range<W>& x) {
  if (x.Undecided()) return x;
  Range<W> y{0, 0, (x.flags & kMayBeNan) | kNotFinite};
  auto include = [&y](W value) {
    if (std::isnan(value)) {
      y.flags |= kMayBeNan;
    } else {
      y = HullOf(y, Normalized(Range<W>{value, 0, 0}));
    }
  };
  if (x.HasFinite() && x.radius == 0) {
    include(Op::template Real<W>(x.centre));
    if (std::is_same_v<Op, Rsqrt> && x.centre == 0) y.flags |= kMayBePosInf | kMayBeNegInf;
  } else if (x.HasFinite()) {
    const W slop = (std::fabs(x.centre) + x.radius) * kSlop<W>;
    W low = x.low() - slop, high = x.high() + slop;
    // An even function sees a magnitude: only rounding can have taken it below zero.
    if constexpr (Op::kEven) low = std::max<W>(low, 0);
    if (low < Op::kDomainLow) {
      // An interval that begins at the end of the domain is inside.
      if (x.low() < Op::kDomainLow) y.flags |= kMayBeNan;
      low = Op::kDomainLow;
    }
    if (high > Op::kDomainHigh) {
      y.flags |= kMayBeNan;
      high = Op::kDomainHigh;
    }
    for (W end : {low, high}) {
      if (high < low) break;  // all of x is outside the domain
      const W value = Op::template Real<W>(end);
      include(value);
      // At a pole large values come with the infinity.
      if (std::isinf(value)) include(std::copysign(std::numeric_limits<W>::max() / 4, value));
      // rsqrt has a pole of either sign at the zeros.
      if (std::is_same_v<Op, Rsqrt> && end == 0) y.flags |= kMayBePosInf | kMayBeNegInf;
    }
  }
  if ((x.flags & kMayBePosInf) != 0) include(Op::template Real<W>(Op::kInfinity));
  if ((x.flags & kMayBeNegInf) != 0) include(Op::template Real<W>(-Op::kInfinity));
  return y;
}

// The common case of a function with an error budget on f32: a certain operand and a result far
// from subnormals, overflow and the ends of the function's range. It stores exactly what the
// general rule stores; false if the element is left to that rule.
template <typename Op>
bool BoundFunctionOfNumber(double x, double ulps, Array& result, int64_t i) {
  if (!IsInLoopRange(x, 0) || x == 0 || Op::IsExactAt(x)) return false;
  if (x < Op::kDomainLow || x > Op::kDomainHigh) return false;
  const double y = Op::template Real<double>(x);
  const double magnitude = std::fabs(y);
  if (!(magnitude >= 2 * kLeastLoopFloat && magnitude <= kMostLoopFloat)) return false;
  const double radius =
      (ulps + 0.5) * UlpAt<float>(magnitude + (ulps + 1) * UlpAt<float>(magnitude)) +
      magnitude * kSlop<double>;
  if (y - radius < Op::kRangeLow || y + radius > Op::kRangeHigh) return false;
  if (magnitude - radius < kLeastLoopFloat) return false;
  if (result.facts().bounds.empty()) MakeBounds(result);
  result.facts().bounds[i] = {y, 0, radius, 0};
  return true;
}

// Stores the bound of a function whose real values are `exact`.
template <typename Op, typename T>
void FinishMonotone(const OpContext& op, Array& result, int64_t i, const Range<Wide<T>>& exact,
                    double ulps) {
  if (ulps == 0) return FinishRounded<T>(op.clauses, result, i, exact, View::kNone);
  FinishFunction<T>(op.clauses, result, i, exact, {ulps, Op::kRangeLow, Op::kRangeHigh});
}

template <typename Op>
absl::Status BoundMonotone(const OpContext& op, Array& result) {
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    const double ulps = UlpsOf<T>(op);
    const T* operand = op.literal(0).data<T>().data();
    const bool is_log_of_root = std::is_same_v<Op, Log> &&
                                op.clauses.Has(ClauseId::kExponentials) &&
                                op.licensed.is_log_of_root;
    const bool is_certain =
        std::is_same_v<T, float> && op.array(0).Certain() && ulps != 0 && !is_log_of_root;
    const int64_t count = op.count();
    for (int64_t i = 0; i < count; ++i) {
      if (is_certain &&
          BoundFunctionOfNumber<Op>(static_cast<double>(Widen<W>(operand[i])), ulps, result, i))
        continue;
      if (IsFlushable<T>(op.clauses, op.array(0), i)) {
        Alternatives<T> values(/*keeps_sign=*/true);
        for (W x : WithZero<W>(Widen<W>(operand[i]), true))
          values.AddPoint(Op::template Real<W>(x), ulps);
        values.Finish(result, i);
        continue;
      }
      const SeenApart<T> seen(op.clauses, op.array(0), i);
      Range<W> x = seen.x;
      if constexpr (Op::kEven) x = MagnitudeOf(x);
      if (std::is_same_v<Op, Logistic> && kIsNarrow<T> && x.Single() && !seen.or_zero &&
          std::exp(-Widen<W>(operand[i])) >= OverflowThreshold<T>() && x.HasFinite()) {
        // The formula, in which the exponential overflows a narrow type; who computes in a wider
        // one has a subnormal number.
        Alternatives<T> values(/*keeps_sign=*/true);
        values.AddPoint(Op::template Real<W>(Widen<W>(operand[i])), ulps);
        values.AddPoint(0, ulps);
        values.Finish(result, i);
        continue;
      }
      if (is_log_of_root && x.HasFinite() && x.low() > 0)
        x.radius += (x.centre + x.radius) * UnitRoundoff<T>() * W{1.01};
      if (x.Single() && !seen.or_zero) {
        const W at = Widen<W>(operand[i]);
        const bool outside = at < Op::kDomainLow || at > Op::kDomainHigh;
        if (!x.HasFinite() || Op::IsExactAt(at) || outside) continue;  // forced
        const Range<W> exact{Op::template Real<W>(at), 0, 0};
        if (ulps == 0) {
          FinishSingle<T>(op.clauses, result, i, exact, View::kNone);
        } else {
          FinishMonotone<Op, T>(op, result, i, Normalized(exact), ulps);
        }
        continue;
      }
      Range<W> y = MonotoneRange<Op>(x);
      if (seen.or_zero) y = HullOf(y, MonotoneRange<Op>(seen.zero));
      FinishMonotone<Op, T>(op, result, i, y, ulps);
      // The root of a negative zero is one.
      if (std::is_same_v<Op, SqrtFunction> && ulps != 0 && (seen.or_zero || x.Contains(0)))
        result.facts().bounds[i].flags &= ~uint32_t{kNoNegativeZero};
      if (std::is_same_v<Op, Logistic> && kIsNarrow<T> && x.HasFinite() && !x.Undecided() &&
          std::exp(-x.low()) >= OverflowThreshold<T>()) {
        // The exponential of the formula may overflow, as above.
        result.facts().bounds[i].flags |= kMayBeZero | kNoNegativeZero;
      }
    }
  });
  return absl::OkStatus();
}

// Bounds sine and cosine, which are no steeper than 1.
template <typename Op>
absl::Status BoundPeriodic(const OpContext& op, Array& result) {
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    const double ulps = UlpsOf<T>(op);
    for (int64_t i = 0; i < op.count(); ++i) {
      const Range<W> x = Seen<T>(op.clauses, op.array(0), i);
      if (x.Single() && (!x.HasFinite() || x.centre == 0)) continue;  // exact points
      Range<W> y = Range<W>::Unknown();
      if (!x.Undecided() && x.HasFinite()) {
        y = {Op::template Real<W>(x.centre), std::min<W>(x.radius, 2), x.flags & kMayBeNan};
        if ((x.flags & (kMayBePosInf | kMayBeNegInf)) != 0) y.flags |= kMayBeNan;
      }
      FinishFunction<T>(op.clauses, result, i, y, {ulps, Op::kRangeLow, Op::kRangeHigh});
    }
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
