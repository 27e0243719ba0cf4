// Inputs on which a program fails, where nobody noted them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/check.h"

namespace assay {

// Draws inputs of all families of values until the backend fails on them, and makes them simple. An
// error if none of so many sets shows a failure.
absl::StatusOr<std::vector<Literal>> FindFailingInputs(const CheckSubject& subject,
                                                       const Module& module, int64_t sets);

}  // namespace assay
