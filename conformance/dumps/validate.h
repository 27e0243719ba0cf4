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
  // The states of the module that are followed: (first, last], beginning with what `first` is, or
  // with the last state before it that can be read.
  size_t first = 0, last = SIZE_MAX;
  bool judges_recorded = true;
  std::function<void(size_t state)> begin;  // before a state is read; may be empty
};

// The "pass" of the step from the last state to what a run gave.
inline constexpr std::string_view kRecordedRun = "the recorded run";

inline constexpr size_t kMostDiffLines = 2000;

// From one state to the next that can be read.
struct DumpStep {
  DumpSnapshot before, after;
  StepVerdict verdict;
  double seconds = 0;
  std::string diff;  // of a step that fails: what the pass changed, not more than kMostDiffLines
};

// Follows the module through its states up to the first step that fails, and tells of each. With
// recorded results these are judged last, by what the last state allows. Errors: no state can be
// read, or the inputs do not fit.
absl::Status ValidateDump(const DumpedModule& dumped, Oracle& oracle,
                          const ValidateOptions& options,
                          const std::function<void(const DumpStep&)>& tell);

}  // namespace assay
