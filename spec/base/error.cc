// The table of error classes: their names and status codes. A status carries its class as payload.
#include "spec/base/error.h"

#include <array>

#include "absl/strings/cord.h"

namespace assay {
namespace {

constexpr char kPayloadUrl[] = "assay/error-class";

struct Row {
  ErrorClass error_class;
  const char* name;
  absl::StatusCode code;
};
constexpr std::array<Row, 7> kRows = {{
    {ErrorClass::kRejected, "rejected", absl::StatusCode::kInvalidArgument},
    {ErrorClass::kUnsupported, "unsupported", absl::StatusCode::kUnimplemented},
    {ErrorClass::kCompileCrash, "compile crash", absl::StatusCode::kInternal},
    {ErrorClass::kRunCrash, "run crash", absl::StatusCode::kAborted},
    {ErrorClass::kTimeout, "timeout", absl::StatusCode::kDeadlineExceeded},
    {ErrorClass::kOutOfMemory, "out of memory", absl::StatusCode::kResourceExhausted},
    {ErrorClass::kSickMachine, "sick machine", absl::StatusCode::kUnavailable},
}};

}  // namespace

std::string_view Name(ErrorClass error_class) {
  return kRows[static_cast<size_t>(error_class)].name;
}

absl::Status MakeError(ErrorClass error_class, std::string_view message) {
  const Row& row = kRows[static_cast<size_t>(error_class)];
  absl::Status status(row.code, absl::string_view(message.data(), message.size()));
  status.SetPayload(kPayloadUrl, absl::Cord(row.name));
  return status;
}

ErrorClass ClassOf(const absl::Status& status) {
  if (auto payload = status.GetPayload(kPayloadUrl); payload.has_value()) {
    for (const Row& row : kRows) {
      if (*payload == row.name) return row.error_class;
    }
  }
  for (const Row& row : kRows) {
    if (row.code == status.code()) return row.error_class;
  }
  return ErrorClass::kCompileCrash;
}

}  // namespace assay
