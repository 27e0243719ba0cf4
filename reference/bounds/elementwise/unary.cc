// Bounds of the unary ops that need no rule of their own kind: signs, is-finite and tan.
#include "reference/bounds/elementwise/unary.h"

namespace assay::reference {

// Abs and negate are bit operations: they neither round nor flush, and an unrounded view of the
// operand becomes one of the result.
template <typename Map, typename MapZeros>
void BoundSignChange(const OpContext& op, Array& result, Map map, MapZeros map_zeros) {
  if (op.array(0).Certain()) return;
  MakeBounds(result);
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for (int64_t i = 0; i < op.count(); ++i) {
      const ElementBound& bound = op.array(0).facts().bounds[i];
      constexpr uint32_t kKept = uint32_t{kForced} | kMayFlush | kMayBeZero | kSumView | kAnyView;
      Range<W> x = RangeOfBound<W>(bound);
      Store(result, i, map(x), (bound.flags & kKept) | map_zeros(bound.flags & kZeroSigns));
    }
  });
}

uint32_t SwapInfinities(uint32_t flags) {
  const uint32_t rest = flags & ~uint32_t{kMayBePosInf | kMayBeNegInf};
  return rest | ((flags & kMayBePosInf) != 0 ? uint32_t{kMayBeNegInf} : 0) |
         ((flags & kMayBeNegInf) != 0 ? uint32_t{kMayBePosInf} : 0);
}

absl::Status BoundNegate(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) return BoundByEnumeration(op, result, EvaluateUnary<Negate>);
  auto negate = [](auto x) {
    x.centre = -x.centre;
    x.flags = SwapInfinities(x.flags);
    return x;
  };
  // One flag, or none: the other one.
  auto swap_zeros = [](uint32_t zeros) { return zeros == 0 ? 0 : zeros ^ kZeroSigns; };
  BoundSignChange(op, result, negate, swap_zeros);
  return absl::OkStatus();
}

absl::Status BoundAbs(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) return BoundByEnumeration(op, result, EvaluateUnary<Abs>);
  auto forget_zeros = [](uint32_t) { return uint32_t{0}; };
  BoundSignChange(op, result, [](auto x) { return MagnitudeOf(x); }, forget_zeros);
  return absl::OkStatus();
}

absl::Status BoundIsFinite(const OpContext& op, Array& result) {
  const Array& operand = op.array(0);
  if (operand.Certain()) return absl::OkStatus();
  for (int64_t i = 0; i < op.count(); ++i) {
    const uint32_t flags = operand.facts().bounds[i].flags;
    if ((flags & kForced) != 0 && (flags & kAnyView) == 0) continue;
    const bool may_be_special =
        (flags & (kMayBeNan | kMayBePosInf | kMayBeNegInf | kUndecided)) != 0;
    const bool may_be_finite = (flags & kNotFinite) == 0 || (flags & kMayBeZero) != 0;
    if (may_be_special && may_be_finite) SetCodes(result, i, {0, 1});
  }
  return absl::OkStatus();
}

absl::Status BoundTan(const OpContext& op, Array& result) {
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    const double ulps = UlpsOf<T>(op);
    for (int64_t i = 0; i < op.count(); ++i) {
      const Range<W> x = Seen<T>(op.clauses, op.array(0), i);
      if (x.Single() && (!x.HasFinite() || x.centre == 0)) continue;  // exact points
      Range<W> y = Range<W>::Unknown();
      if (x.flags == 0 && x.radius == 0) {
        y = {std::tan(x.centre), 0, 0};
      } else if (x.flags == 0 && x.radius < 1) {
        // Tan rises between its poles: where it does not, a pole lies inside.
        const W low = std::tan(x.low()), high = std::tan(x.high());
        if (low <= high) {
          y = Range<W>::Hull(low, high);
          y.radius += (std::fabs(y.centre) + x.radius) * kSlop<W>;
        }
      }
      FinishFunction<T>(op.clauses, result, i, y, {ulps});
    }
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
