// Other legal evaluations of a program, taken at their word: sums formed in another order and
// rounded at every step, functions off by what they may be. The bounds must hold for all of them,
// and how far they stray is what the power of the bounds is measured by. Documents: operation
// semantics 1.7 and 1.8; design "Tolerances are derived, not guessed".
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/status/statusor.h"
#include "reference/op_evaluations.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay::reference {

// The result of the entry under the profile xla, once with every liberty that there is.
absl::StatusOr<std::vector<Literal>> EvaluateWithLiberties(
    const Module& module, const std::vector<const Literal*>& arguments);

// The terms added or multiplied one after the other and rounded each time, in the order of
// `liberty`: as they come, backwards, or one sign after the other from the largest or the smallest
// on, which makes partial sums large. `terms` are sorted in place.
template <typename A>
A CombineInOrder(std::vector<A>& terms, bool multiply, int liberty) {
  auto less = [](A a, A b) { return !std::isnan(b) && (std::isnan(a) || a < b); };
  if (liberty % 4 == 1) std::sort(terms.begin(), terms.end(), less);
  if (liberty % 4 == 2) std::sort(terms.rbegin(), terms.rend(), less);
  if (liberty % 4 == 3) std::reverse(terms.begin(), terms.end());
  A value = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) value = multiply ? value * terms[i] : value + terms[i];
  return value;
}

// Moves the results of a function with an error budget, `result`, to an end of what `bound` allows
// for the operands as they are.
absl::Status MoveWithinBudget(const OpContext& op, BoundFn bound, int liberty, Literal& result);

}  // namespace assay::reference
