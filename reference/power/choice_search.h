// A search for legal evaluations of a program that stray far from the plain one: the bounds are
// measured by them. Design "Tolerances are derived, not guessed" (the power to convict is
// measured).
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay::reference {

// The results of the entry under the profile xla: one for every rule of
// reference/bounds/choices/legal_choices.h, and those in which an output strays furthest that a
// search over directions finds.
absl::StatusOr<std::vector<Literal>> EvaluateWithChoices(
    const Module& module, const std::vector<const Literal*>& arguments);
// Likewise, with a search of about `steps` element evaluations.
absl::StatusOr<std::vector<Literal>> SearchChoices(const Module& module,
                                                   const std::vector<const Literal*>& arguments,
                                                   int64_t steps);

}  // namespace assay::reference
