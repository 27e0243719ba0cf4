// Counts down element evaluations and looks at the clock now and then.
#include "reference/interpreter/budget.h"

#include <algorithm>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

constexpr int64_t kClockInterval = 1 << 16;  // steps between two looks at the clock

}  // namespace

Budget::Budget(const Limits& limits)
    : limits_(limits),
      memory_(limits.memory_bytes),
      steps_left_(limits.steps),
      deadline_(std::chrono::steady_clock::now() +
                std::chrono::microseconds(
                    static_cast<int64_t>(std::clamp(limits.seconds, 0.0, 1e9) * 1e6))) {}

absl::Status Budget::Take(int64_t steps) {
  if (steps > steps_left_) {
    return MakeError(
        ErrorClass::kTimeout,
        StrCat("the program needs more than the limit of ", limits_.steps,
               " element evaluations; raise the step limit (--max-steps) if it does end"));
  }
  steps_left_ -= steps;
  next_clock_check_ -= steps + 64;  // an instruction costs something even without elements
  if (next_clock_check_ > 0) return absl::OkStatus();
  next_clock_check_ = kClockInterval;
  if (std::chrono::steady_clock::now() < deadline_) return absl::OkStatus();
  return MakeError(ErrorClass::kTimeout,
                   StrCat("the oracle ran longer than the limit of ", limits_.seconds,
                          " seconds; raise the time limit (--timeout) if it does end"));
}

}  // namespace assay::reference
