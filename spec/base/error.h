// The closed set of ways in which something under test fails. Every error of a backend is an
// absl::Status that carries one.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace assay {

enum class ErrorClass : uint8_t {
  kRejected,      // the module is invalid, says the backend
  kUnsupported,   // legal, but this backend does not do it
  kCompileCrash,  // the compiler died or reported an internal error
  kRunCrash,      // the executable died
  kTimeout,
  kOutOfMemory,
  kSickMachine,  // no fault of the tested: no disk, no interpreter, lost worker for outer reasons
};

std::string_view Name(ErrorClass error_class);
absl::Status MakeError(ErrorClass error_class, std::string_view message);
// The class of a backend's status; statuses that carry none are classed by their code.
ErrorClass ClassOf(const absl::Status& status);

}  // namespace assay
