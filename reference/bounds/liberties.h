// Other legal evaluations of a program, taken at their word: sums formed in another order and
// rounded at every step, functions off by what they may be. The bounds must hold for all of them,
// and how far they stray is what the power of the bounds is measured by. Documents: operation
// semantics 1.7 and 1.8; design "Tolerances are derived, not guessed".
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "reference/values/op_evaluations.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay::reference {

// What one evaluation makes of the freedoms: a rule for all choices, or a direction for each.
class Liberties {
 public:
  // The rules of 1 to kRules: terms one after the other as they come, backwards, or one sign after
  // the other from the largest or the smallest on, which makes partial sums large; functions all
  // up, all down, or each its own way.
  static constexpr int kRules = 8;
  static Liberties OfRule(int rule) { return Liberties(rule, 0, nullptr); }
  // The same for the choices that matter; sums of no matter are added as they come.
  static Liberties OfLead(const std::vector<bool>* up, const std::vector<bool>* matters) {
    Liberties liberties(0, 0, up);
    liberties.matters_ = matters;
    return liberties;
  }
  // None is made use of; the choices are numbered all the same.
  static Liberties Numbering() { return Liberties(kNumbering, 0, nullptr); }
  // Every result is pushed in a direction of its own: a sum by the order of its terms, a function
  // by its budget. The directions are drawn from `seed`, or, where they are known, `up`.
  static Liberties OfDirections(uint64_t seed, const std::vector<bool>* up) {
    return Liberties(0, seed, up);
  }

  // Numbers for the results of an op, of which each has a choice, in the order of evaluation.
  int64_t Site(int64_t count) {
    site_ = next_;
    next_ += count;
    return site_;
  }
  // Those of the op that took its numbers last.
  int64_t last_site() const { return site_; }
  int64_t choices() const { return next_; }
  bool numbers_only() const { return rule_ == kNumbering; }

  bool IsUp(int64_t slot) const;
  // The terms added or multiplied, and rounded each time, in an order for the slot. `terms` are
  // moved about.
  template <typename A>
  A Combine(std::vector<A>& terms, bool multiply, int64_t slot) const;
  // The same for a sum of products, each of them rounded or not before it is added.
  template <typename A>
  A CombineProducts(std::vector<std::pair<A, A>>& factors, int64_t slot) const;

 private:
  static constexpr int kNumbering = -1;
  Liberties(int rule, uint64_t seed, const std::vector<bool>* up)
      : rule_(rule), seed_(seed), up_(up) {}

  int rule_;
  uint64_t seed_;
  bool Matters(int64_t slot) const {
    return matters_ == nullptr ||
           (slot < static_cast<int64_t>(matters_->size()) && (*matters_)[slot]);
  }

  const std::vector<bool>* up_;
  const std::vector<bool>* matters_ = nullptr;
  int64_t next_ = 0, site_ = 0;
};

// The direction of a choice drawn from a seed.
bool DrawnDirection(uint64_t seed, int64_t slot);

// The result of the entry under the profile xla, once with every rule; and those in which an output
// strays furthest that a search over directions finds.
absl::StatusOr<std::vector<Literal>> EvaluateWithLiberties(
    const Module& module, const std::vector<const Literal*>& arguments);
// The same with a search of about so many element evaluations.
absl::StatusOr<std::vector<Literal>> SearchLiberties(const Module& module,
                                                     const std::vector<const Literal*>& arguments,
                                                     int64_t steps);

// Whether the results of an element-wise op are choices: functions with an error budget, quotients
// that may be products, sums of products that may be contracted.
bool HasLiberty(const OpContext& op);
// Makes the choices of such an op, but for contraction: moves `result` to an end of what is legal
// for the operands as they are.
absl::Status MoveElements(const OpContext& op, BoundFn bound, Liberties& liberties,
                          Literal& result);
// Makes those of an addition or a subtraction, the op that took its numbers last: products among
// its operands, given by their factors (nullptr: no product), may stay unrounded.
struct Factors {
  const Literal *lhs = nullptr, *rhs = nullptr;
};
void Contract(bool subtract, const Literal* const (&operands)[2], const Factors (&factors)[2],
              const Liberties& liberties, Literal& result);

}  // namespace assay::reference
