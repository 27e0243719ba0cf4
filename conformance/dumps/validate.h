// The states of one module between passes, each judged by what the state before it allows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "conformance/dumps/dump_folder.h"
#include "conformance/dumps/step.h"

namespace assay {

struct ValidateOptions {
  const Profile* profile = nullptr;
  Limits limits;
  std::string inputs;  // an npz; "": recorded arguments if there are any, otherwise drawn
  uint64_t seed = 1;
  // So many sets of inputs are drawn for a step on which one alone does not decide.
  int most_sets = 3;
};

// The "pass" of the step from the last state to what a run gave.
inline constexpr std::string_view kRecordedRun = "the recorded run";

// From one state to the next that can be read.
struct DumpStep {
  const DumpSnapshot& before;
  const DumpSnapshot& after;
  const Module& module_before;
  const Module* module_after;  // nullptr: it could not be read, or the step is the recorded run
  StepVerdict verdict;
  double seconds = 0;
};

// Follows the module through its states up to the first step that fails, and tells of each. With
// recorded results these are judged last, by what the last state allows. Errors: no state can be
// read, or the inputs do not fit.
absl::Status ValidateDump(const DumpedModule& dumped, Oracle& oracle,
                          const ValidateOptions& options,
                          const std::function<void(const DumpStep&)>& tell);

}  // namespace assay
