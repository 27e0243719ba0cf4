// The errors of a run that are not a fault of the program: analyses without a verdict, and limits.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "spec/ir/instruction.h"

namespace assay::reference {

// A status that ends a bound analysis without a verdict: an undecided loop condition and the like.
absl::Status Inconclusive(std::string_view reason);
bool IsInconclusive(const absl::Status& status);

// Says in which instruction a limit was met, once: the innermost place stays. Other errors name
// their instruction themselves and come back as they are.
absl::Status WithPlace(const absl::Status& status, const Instruction& at);

}  // namespace assay::reference
