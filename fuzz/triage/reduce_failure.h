// Chooses what the reducer may lead to when it starts from a failure: a smaller program that fails
// in the same way, of the same guilty rule, and does not only round in another order.
#pragma once

#include <string>

#include "fuzz/triage/triage.h"

namespace assay {

// Reduces a case that fails as `kind`; with a rule, keeps it the guilty one. Errors as of Reduce.
absl::StatusOr<ReduceResult> ReduceFailure(const CheckSubject& subject,
                                           const ReduceCase& reduce_case, Outcome::Kind kind,
                                           const std::string& rule, const TriageOptions& options);

}  // namespace assay
