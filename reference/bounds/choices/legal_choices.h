// Other legal evaluations of a program than the plain one: sums formed in another order and rounded
// at every step, functions off by as much as they may be. The bounds must hold for all of them, and
// how far they stray is the measure of the power of the bounds (reference/power/choice_search.h).
// Documents: operation semantics 1.7 and 1.8; design "Tolerances are derived, not guessed".
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "reference/values/op_context.h"

namespace assay::reference {

// The way in which one evaluation makes the choices that are left to it: by one rule for all of
// them, or each in a direction of its own.
class LegalChoices {
 public:
  // The rules are numbered from 1 to kRules. They add the terms one after the other as they come,
  // backwards, or one sign after the other from the largest or the smallest on, which makes partial
  // sums large; functions are off all up, all down, or each its own way.
  static constexpr int kRules = 8;
  static LegalChoices OfRule(int rule) { return LegalChoices(rule, 0, nullptr); }
  // Steers only the choices in `matters`; all other sums are added in program order.
  static LegalChoices OfSteered(const std::vector<bool>* up, const std::vector<bool>* matters) {
    LegalChoices choices(0, 0, up);
    choices.matters_ = matters;
    return choices;
  }
  // Numbers the choices and makes none of them.
  static LegalChoices Numbering() { return LegalChoices(kNumbering, 0, nullptr); }
  // Pushes every result in a direction of its own: a sum by the order of its terms, a function by
  // its budget. The directions are those of `up`, or drawn from `seed` where it is null.
  static LegalChoices OfDirections(uint64_t seed, const std::vector<bool>* up) {
    return LegalChoices(0, seed, up);
  }

  // Takes numbers for the results of an op, of which each has a choice, in the order of evaluation.
  // Returns the first.
  int64_t Site(int64_t count) {
    site_ = next_;
    next_ += count;
    return site_;
  }
  // The first number of the op that took its numbers last.
  int64_t last_site() const { return site_; }
  // The number of choices that have been numbered.
  int64_t count() const { return next_; }
  bool numbers_only() const { return rule_ == kNumbering; }

  // From now on arithmetic reads subnormal numbers as zeros and makes none (FlushSubnormals).
  void FlushSubnormals() { flushes_ = true; }
  bool flushes() const { return flushes_; }

  bool IsUp(int64_t slot) const;
  // Adds or multiplies the terms, rounding each time, in an order for the slot. `terms` are moved
  // about.
  template <typename A>
  A Combine(std::vector<A>& terms, bool multiply, int64_t slot) const;
  // Adds products in an order for the slot, each of them rounded or not before it is added.
  template <typename A>
  A CombineProducts(std::vector<std::pair<A, A>>& factors, int64_t slot) const;

 private:
  static constexpr int kNumbering = -1;
  LegalChoices(int rule, uint64_t seed, const std::vector<bool>* up)
      : rule_(rule), seed_(seed), up_(up) {}
  bool Matters(int64_t slot) const {
    return matters_ == nullptr ||
           (slot < static_cast<int64_t>(matters_->size()) && (*matters_)[slot]);
  }

  int rule_;
  uint64_t seed_;
  const std::vector<bool>* up_;
  const std::vector<bool>* matters_ = nullptr;
  bool flushes_ = false;
  int64_t next_ = 0, site_ = 0;
};

// True of arithmetic whose subnormal operands and results may be flushed to zero
// (ClauseId::kFlushSubnormals).
bool IsFlushed(const Instruction& instruction);
// The value with zeros in place of subnormal numbers; the value itself where there are none.
Value FlushSubnormals(const Value& value, MemoryMeter& meter);

// The direction of a choice drawn from a seed.
bool DrawnDirection(uint64_t seed, int64_t slot);

// True if the results of an element-wise op are choices: functions with an error budget, quotients
// that may be products, sums of products that may be fused.
bool HasChoice(const OpContext& op);
// Makes the choices of such an op, but for fused products: pushes `result` to an end of what is
// legal for the operands as they are. Leaves the results of other ops.
absl::Status ChooseResult(const OpContext& op, BoundFn bound, LegalChoices& choices,
                          Literal& result);

// The factors of an operand that is a product; null for one that is none.
struct Factors {
  const Literal *lhs = nullptr, *rhs = nullptr;
};
// Makes the choices of an addition or a subtraction, the op that took its numbers last: products
// among its operands may stay unrounded.
void FuseProducts(bool subtract, const Literal* const (&operands)[2], const Factors (&factors)[2],
                  const LegalChoices& choices, Literal& result);

}  // namespace assay::reference
