// assay bench --bisect GOOD BAD: where between two sides a workload became slower.
#include <cmath>
#include <random>
#include <sstream>

#include "absl/strings/str_format.h"
#include "bench/tracking/rank_tests.h"
#include "bench/workload.h"
#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/json_line.h"
#include "tools/assay/peers.h"
#include "tools/assay/terminal.h"
#include "tools/assay/tracking/sides.h"
#include "tools/assay/tracking/tracking.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

// The names between GOOD and BAD, both included, oldest first.
absl::StatusOr<std::vector<std::string>> NamesBetween(const std::string& good,
                                                      const std::string& bad) {
  std::vector<std::string> names;
  if (good.rfind("xla@", 0) == 0 && bad.rfind("xla@", 0) == 0) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<InstalledPeer> peers,
                           PeersIn(StrCat(good.substr(4), "..", bad.substr(4))));
    for (const InstalledPeer& peer : peers) names.push_back(StrCat("xla@", peer.version));
    return names;
  }
  ASSAY_ASSIGN_OR_RETURN(
      const Ran ran,
      RunCommand({"git", "rev-list", "--reverse", "--first-parent", StrCat(good, "..", bad)}, 60));
  if (ran.status != 0) {
    return absl::InvalidArgumentError(
        StrCat("git knows no commits from ", good, " to ", bad, ": ", ran.err));
  }
  names.push_back(good);
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

// Is `one` nearer to the bad side? Both sides are sampled beside it, as the machine of today is not
// that of an hour ago.
absl::StatusOr<bool> IsBad(const Side& good, const Side& bad, const Side& one,
                           const std::string& path, const SampleOptions& sampling) {
  constexpr int kRounds = 9;
  std::vector<double> to_good, to_bad;
  const std::string of_good = CodeOf(good, path, sampling.timeout);
  const std::string of_bad = CodeOf(bad, path, sampling.timeout);
  const std::string code = CodeOf(one, path, sampling.timeout);
  // A side with the same code as one end is that end, whatever the clock says.
  if (!code.empty() && of_good != of_bad) {
    if (code == of_good) return false;
    if (code == of_bad) return true;
  }
  for (int round = 0; round < kRounds; ++round) {
    double seconds[3] = {0, 0, 0};
    int place = 0;
    for (const Side* side : {&good, &one, &bad}) {
      ASSAY_ASSIGN_OR_RETURN(const SideSample sample, TakeSample(*side, path, sampling));
      seconds[place++] = sample.run_seconds;
    }
    to_good.push_back(std::fabs(std::log(seconds[1] / seconds[0])));
    to_bad.push_back(std::fabs(std::log(seconds[1] / seconds[2])));
  }
  return EstimateMedian(to_bad).median < EstimateMedian(to_good).median;
}

}  // namespace

absl::StatusOr<int> BisectSides(const TrackingOptions& options, const TrackingSetting& setting) {
  if (setting.paths.size() < 3) {
    return absl::InvalidArgumentError(
        "assay bench --bisect GOOD BAD MODULE, or GOOD BETWEEN ... BAD MODULE with programs");
  }
  // With more than two sides the list is given, oldest first, and the module stands last.
  std::vector<std::string> names(setting.paths.begin(), setting.paths.end() - 1);
  const std::string path = setting.paths.back();
  if (names.size() == 2) {
    ASSAY_ASSIGN_OR_RETURN(names, NamesBetween(names[0], names[1]));
  }
  if (names.size() < 2) return absl::InvalidArgumentError("there is nothing between the two sides");
  const InterruptGuard guard(/*ends_evaluations=*/true);
  const SampleOptions sampling{setting.min_seconds, setting.max_seconds, setting.seed};
  ASSAY_ASSIGN_OR_RETURN(const Side good, OneSide(names.front(), setting));
  ASSAY_ASSIGN_OR_RETURN(const Side bad, OneSide(names.back(), setting));
  const double deadline = Now() + options.budget;
  size_t low = 0, high = names.size() - 1;
  std::vector<bool> is_skipped(names.size(), false);
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    while (middle > low && is_skipped[middle]) --middle;
    if (middle == low) break;
    if (Now() > deadline) {
      return absl::DeadlineExceededError(StrCat("the budget is over between ", names[low], " and ",
                                                names[high], "; raise --budget"));
    }
    const absl::StatusOr<Side> one = OneSide(names[middle], setting);
    const absl::StatusOr<bool> is_bad =
        one.ok() ? IsBad(good, bad, *one, path, sampling) : absl::StatusOr<bool>(one.status());
    if (InterruptRequested()) return kExitInterrupted;
    if (!is_bad.ok()) {
      PrintError(StrCat(names[middle], " is skipped: ", ToStd(is_bad.status().message())));
      is_skipped[middle] = true;
      continue;
    }
    if (!setting.json) Print(StrCat(names[middle], ": ", *is_bad ? "bad" : "good"));
    (*is_bad ? high : low) = middle;
  }
  ASSAY_ASSIGN_OR_RETURN(const Side before, OneSide(names[low], setting));
  ASSAY_ASSIGN_OR_RETURN(const Side after, OneSide(names[high], setting));
  const ChangeCause cause = ExplainSides(before, after, path, sampling);
  if (setting.json) {
    PrintJson({{"type", "bisection"},
               {"good", names[low]},
               {"bad", names[high]},
               {"cause", cause.sentence},
               {"differences", cause.details}});
  } else {
    Print(StrCat("first bad: ", names[high], " (good: ", names[low], "): ", cause.sentence));
  }
  return kExitOk;
}

}  // namespace assay
