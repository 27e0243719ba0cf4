// A search for legal evaluations of a program that stray far from the plain one: the bounds are
// measured by them. Design "Tolerances are derived, not guessed" (the power to convict is
// measured).
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/check.h"

namespace assay::reference {

// The results of the entry under the profile xla: one for every rule of
// reference/bounds/choices/legal_choices.h, and those in which an output strays furthest that a
// search over directions finds. Of several devices each answer is the tuple of their results; every
// device chooses for itself, and the search goes by chance alone, for errors are followed on one
// device only.
absl::StatusOr<std::vector<Literal>> EvaluateWithChoices(const CheckCase& check_case);
// Likewise, with a search of about `steps` element evaluations.
absl::StatusOr<std::vector<Literal>> SearchChoices(const CheckCase& check_case, int64_t steps);
// On one device.
absl::StatusOr<std::vector<Literal>> SearchChoices(const Module& module,
                                                   const std::vector<const Literal*>& arguments,
                                                   int64_t steps);

}  // namespace assay::reference
