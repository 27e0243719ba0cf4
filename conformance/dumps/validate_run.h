// Dumps validated by as many processes as there are cores: each follows a part of the states of one
// module. What a process tells is passed on in the order of the states, so that the report is that
// of one process; what dies or takes too long costs its own step.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "conformance/dumps/validate.h"
#include "spec/backend/oracle.h"

namespace assay {

struct ValidateRunOptions {
  ValidateOptions validate;
  int jobs = 1;
  double seconds = 0;       // of the whole run; 0: no limit
  double step_seconds = 0;  // that one step may take
};

// Receives results in the order of modules and states. `begin` and `end` enclose a module.
struct ValidateListener {
  std::function<void(const DumpedModule&)> begin;
  std::function<void(const DumpStep&)> tell;
  std::function<void(const absl::Status&)> excuse;  // no state can be read, or inputs do not fit
  std::function<void()> end;
  std::function<void(int64_t done, int64_t total)> progress;  // states that were followed, often
};

struct ValidateRunEnd {
  int64_t states = 0, followed = 0;
  bool interrupted = false, out_of_time = false;
};

// The calling process must be single-threaded. An InterruptGuard of the caller ends the run early.
ValidateRunEnd ValidateDumps(const std::vector<DumpedModule>& dumps,
                             const std::function<std::unique_ptr<Oracle>()>& make_oracle,
                             const ValidateRunOptions& options, const ValidateListener& listener);

}  // namespace assay
