// Bounds of clamp and select on floats.
#include "reference/bounds/elementwise/ternary.h"

#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "reference/values/property.h"

namespace assay::reference {

// minimum(maximum(x, low), high): continuous, not a decision.
absl::Status BoundClampFloat(const OpContext& op, Array& result) {
  const bool one_low = op.literal(0).shape().rank() == 0;
  const bool one_high = op.literal(2).shape().rank() == 0;
  DispatchReal(op.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t count = op.count();
    for (int64_t i = 0; i < count; ++i) {
      const auto low = Seen<T>(op.clauses, op.array(0), one_low ? 0 : i);
      const auto x = Seen<T>(op.clauses, op.array(1), i);
      const auto high = Seen<T>(op.clauses, op.array(2), one_high ? 0 : i);
      if (low.Single() && x.Single() && high.Single()) {
        PassOnSumView<T>(op.array(1), i, result, i);
        continue;
      }
      const auto raised = RangeOf<MaximumBound>(x, low);
      FinishExact<T>(op.clauses, result, i, RangeOf<MinimumBound>(raised, high));
      if (x.Single() && AreApart(low, x) && AreApart(x, high))
        PassOnSumView<T>(op.array(1), i, result, i);
    }
  });
  return absl::OkStatus();
}

namespace {

// Elements that a property judges may be NaN instead where it says so: what JAX makes of a
// factorisation that failed.
class NanInstead {
 public:
  // True if NaN in `other` leaves element i of `result` to its property.
  bool Allows(const Array& result, const Array& other, int64_t i) {
    const auto origin = result.facts().origins.find(i);
    if (origin == result.facts().origins.end() || origin->second.piece != Origin::kWhole)
      return false;
    const int64_t width = BoundsPerElement(other.literal.element_type());
    for (int64_t slot = i * width; slot < (i + 1) * width; ++slot)
      if (other.facts().IsOpen(slot) || !std::isnan(other.literal.GetComponent(slot))) return false;
    const Property& property = *origin->second.property;
    const auto [known, is_new] = allowed_.try_emplace(&property, false);
    if (is_new) known->second = AcceptsNan(property);
    return known->second;
  }

 private:
  absl::flat_hash_map<const Property*, bool> allowed_;
};

}  // namespace

// The chosen arm with all that belongs to it; both where the predicate is undecided.
absl::Status BoundSelect(const OpContext& op, Array& result) {
  if (AllCertain(op)) return absl::OkStatus();
  const Array &predicate = op.array(0), &on_true = op.array(1), &on_false = op.array(2);
  const bool one_predicate = predicate.literal.shape().rank() == 0;
  absl::Span<const bool> plain = predicate.literal.data<bool>();
  MakeBounds(result);
  NanInstead nan_instead;
  for (int64_t i = 0; i < op.count(); ++i) {
    const int64_t p = one_predicate ? 0 : i;
    const bool chosen = plain[p];
    MoveBound(chosen ? on_true : on_false, i, result, i);
    if (!predicate.facts().choices.contains(p)) continue;
    const Array& other = chosen ? on_false : on_true;
    if (nan_instead.Allows(result, other, i)) {
      SetUndecided(result, i);  // but for the property
    } else {
      HullWith(other, i, result, i);
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::reference
