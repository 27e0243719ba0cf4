// Counts down element evaluations and looks at the clock now and then.
#include "reference/interpreter/budget.h"

#include <algorithm>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {

Budget::Budget(const Limits& limits)
    : limits_(limits),
      memory_(limits.memory_bytes),
      steps_left_(limits.steps),
      deadline_(limits.seconds) {}

absl::Status Budget::Take(int64_t steps) {
  if (steps > steps_left_) {
    return MakeError(
        ErrorClass::kTimeout,
        StrCat("the program needs more than the limit of ", limits_.steps,
               " element evaluations; raise the step limit (--max-steps) if it does end"));
  }
  steps_left_ -= steps;
  // An instruction costs something even without elements.
  deadline_.IsOver(std::min(steps, int64_t{1} << 40) + 64);
  return CheckTime();
}

absl::Status Budget::CheckTime() const {
  if (!deadline_.is_over()) return absl::OkStatus();
  if (deadline_.is_interrupted()) return absl::CancelledError("the oracle was interrupted");
  return MakeError(ErrorClass::kTimeout,
                   StrCat("the oracle ran longer than the limit of ", limits_.seconds,
                          " seconds; raise the time limit (--timeout) if it does end"));
}

}  // namespace assay::reference
