// The bound of compare: which outcomes a comparison of uncertain elements may have.
#pragma once

#include <cmath>

#include "reference/bounds/elements.h"
#include "reference/scalar/compare.h"

namespace assay::reference {

// True if a comparison of two ranges may come out as `outcome`.
template <typename W>
bool MayCompare(Direction direction, const Range<W>& a, const Range<W>& b, bool outcome) {
  if (a.Undecided() || b.Undecided()) return true;
  if (((a.flags | b.flags) & kMayBeNan) != 0) {
    if ((direction == Direction::kNe) == outcome) return true;
  }
  static constexpr W kInfinity = std::numeric_limits<W>::infinity();
  auto ends = [](const Range<W>& r, W& low, W& high) {
    low = kInfinity;
    high = -kInfinity;
    if (r.HasFinite()) {
      low = r.low();
      high = r.high();
    }
    if ((r.flags & kMayBePosInf) != 0) {
      low = std::min(low, kInfinity);
      high = kInfinity;
    }
    if ((r.flags & kMayBeNegInf) != 0) {
      low = -kInfinity;
      high = std::max(high, -kInfinity);
    }
    const bool any = r.HasFinite() || (r.flags & (kMayBePosInf | kMayBeNegInf)) != 0;
    return any;
  };
  W a_low, a_high, b_low, b_high;
  if (!ends(a, a_low, a_high) || !ends(b, b_low, b_high)) return false;
  const bool may_be_equal = a_low <= b_high && b_low <= a_high;
  const bool may_be_less = a_low<b_high, may_be_greater = a_high> b_low;
  switch (direction) {
    case Direction::kEq:
      return outcome ? may_be_equal : may_be_less || may_be_greater;
    case Direction::kNe:
      return outcome ? may_be_less || may_be_greater : may_be_equal;
    case Direction::kLt:
      return outcome ? may_be_less : may_be_equal || may_be_greater;
    case Direction::kLe:
      return outcome ? may_be_less || may_be_equal : may_be_greater;
    case Direction::kGt:
      return outcome ? may_be_greater : may_be_equal || may_be_less;
    case Direction::kGe:
      return outcome ? may_be_greater || may_be_equal : may_be_less;
  }
  return true;
}

template <typename W>
bool MayBeNan(const Range<W>& range) {
  return range.Undecided() || (range.flags & kMayBeNan) != 0;
}

// True of two NaNs of one sign that only their payloads put in order.
inline bool DifferInPayload(const Literal& a, const Literal& b, int64_t i) {
  const double x = a.GetDouble(i), y = b.GetDouble(i);
  return std::isnan(x) && std::isnan(y) && std::signbit(x) == std::signbit(y) &&
         a.GetBits(i) != b.GetBits(i);
}

template <EvaluateFn kEvaluate>
absl::Status BoundCompare(const OpContext& op, Array& result) {
  const ElementType type = op.literal(0).element_type();
  // Compared with itself, a value is equal, whatever it is.
  const bool same = op.instruction.operand(0) == op.instruction.operand(1);
  if (!IsFloat(type)) return same ? absl::OkStatus() : BoundByEnumeration(op, result, kEvaluate);
  const Direction direction = DirectionOf(op.instruction);
  const bool total_order = IsTotalOrder(op.instruction);
  const bool nans_tie =
      MayLosePayload(op.clauses, op.instruction.operand(0)->shape().element_type());
  const bool moved_only[2] = {total_order && IsMovedOnly(*op.instruction.operand(0)),
                              total_order && IsMovedOnly(*op.instruction.operand(1))};
  DispatchReal(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t count = op.count();
    for (int64_t i = 0; i < count; ++i) {
      const auto a = Seen<T>(op.clauses, op.array(0), i);
      const auto b = Seen<T>(op.clauses, op.array(1), i);
      bool decided = !MayCompare(direction, a, b, true) || !MayCompare(direction, a, b, false);
      if (total_order) {
        // It looks at bits, which only matter to NaN and where the values may be equal.
        const bool by_value =
            decided && !MayBeNan(a) && !MayBeNan(b) && !MayCompare(Direction::kEq, a, b, true);
        decided =
            by_value || (HasKnownCode(op.array(0), i, moved_only[0]) &&
                         HasKnownCode(op.array(1), i, moved_only[1]) &&
                         !IsSeenUnrounded(op.array(0), i) && !IsSeenUnrounded(op.array(1), i));
        decided = decided && !(nans_tie && DifferInPayload(op.literal(0), op.literal(1), i));
      } else {
        decided = decided || (a.Single() && b.Single()) || (same && !MayBeNan(a));
      }
      if (!decided) SetCodes(result, i, {0, 1});
    }
  });
  return absl::OkStatus();
}

}  // namespace assay::reference
