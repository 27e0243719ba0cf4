// Counts down element evaluations and looks at the clock now and then.
#include "reference/interpreter/budget.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// How many times as long a computation takes where others want the cores, too: what it waits for
// them is not its own time.
double Stretch() {
  constexpr double kMost = 12;
  double load = 0;
  const auto cores = static_cast<double>(std::max(std::thread::hardware_concurrency(), 1U));
  if (getloadavg(&load, 1) != 1) return 1;
  return std::clamp((load + 1) / cores, 1.0, kMost);
}

}  // namespace

Budget::Budget(const Limits& limits)
    : limits_(limits),
      memory_(limits.memory_bytes),
      steps_left_(limits.steps),
      deadline_(limits.seconds * Stretch()) {}

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
  return MakeError(ErrorClass::kTimeout,
                   StrCat("the oracle ran longer than the limit of ", limits_.seconds,
                          " seconds; raise the time limit (--timeout) if it does end"));
}

}  // namespace assay::reference
