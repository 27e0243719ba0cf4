// Errors of ops that devices execute together.
#pragma once

#include "reference/values/op_context.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {

// rejected: the instruction's name and `parts`.
template <typename... Parts>
absl::Status Rejected(const OpContext& op, const Parts&... parts) {
  return MakeError(ErrorClass::kRejected, StrCat(op.instruction.name(), ": ", parts...));
}

}  // namespace assay::reference
