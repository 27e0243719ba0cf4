#include "reference/bounds/ternary.h"

namespace assay::reference {

// minimum(maximum(x, low), high): continuous, not a decision.
absl::Status BoundClampFloat(const OpContext& op, Array& result) {
  const bool one_low = op.literal(0).shape().rank() == 0;
  const bool one_high = op.literal(2).shape().rank() == 0;
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t count = op.count();
    for (int64_t i = 0; i < count; ++i) {
      const auto low = Seen<T>(op.freedoms, op.array(0), one_low ? 0 : i);
      const auto x = Seen<T>(op.freedoms, op.array(1), i);
      const auto high = Seen<T>(op.freedoms, op.array(2), one_high ? 0 : i);
      if (low.Single() && x.Single() && high.Single()) continue;
      const auto raised = RangeOf<MaximumBound>(x, low);
      FinishExact<T>(op.freedoms, result, i, RangeOf<MinimumBound>(raised, high));
    }
  });
  return absl::OkStatus();
}

// The chosen arm with all that belongs to it; both where the predicate is undecided.
absl::Status BoundSelect(const OpContext& op, Array& result) {
  if (AllCertain(op)) return absl::OkStatus();
  const Array &predicate = op.array(0), &on_true = op.array(1), &on_false = op.array(2);
  const bool one_predicate = predicate.literal.shape().rank() == 0;
  absl::Span<const bool> plain = predicate.literal.data<bool>();
  MakeBounds(result);
  for (int64_t i = 0; i < op.count(); ++i) {
    const int64_t p = one_predicate ? 0 : i;
    const bool chosen = plain[p];
    MoveBound(chosen ? on_true : on_false, i, result, i);
    if (predicate.choices.contains(p)) HullWith(chosen ? on_false : on_true, i, result, i);
  }
  return absl::OkStatus();
}

}  // namespace assay::reference
