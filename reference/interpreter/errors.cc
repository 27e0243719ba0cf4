// Statuses that carry a mark: inconclusive, or placed.
#include "reference/interpreter/errors.h"

#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ir/computation.h"

namespace assay::reference {
namespace {

// Keys of the payloads by which these statuses are told from others.
constexpr char kInconclusiveKey[] = "assay.inconclusive";
constexpr char kPlacedKey[] = "assay/placed";

}  // namespace

absl::Status Inconclusive(std::string_view reason) {
  absl::Status status = absl::AbortedError(ToAbsl(reason));
  status.SetPayload(kInconclusiveKey, absl::Cord("1"));
  return status;
}

bool IsInconclusive(const absl::Status& status) {
  return status.GetPayload(kInconclusiveKey).has_value();
}

absl::Status WithPlace(const absl::Status& status, const Instruction& at) {
  const ErrorClass error_class = ClassOf(status);
  const bool is_limit =
      error_class == ErrorClass::kTimeout || error_class == ErrorClass::kOutOfMemory;
  if (!is_limit || status.GetPayload(kPlacedKey).has_value()) return status;
  absl::Status placed =
      MakeError(error_class, StrCat("computation ", at.parent()->name(), ", instruction ",
                                    at.name(), ": ", ToStd(status.message())));
  placed.SetPayload(kPlacedKey, absl::Cord("1"));
  return placed;
}

}  // namespace assay::reference
