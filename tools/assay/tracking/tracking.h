// assay bench --record, --ab, --watch and --bisect: performance over time.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/assay/command_line.h"

namespace assay {

inline constexpr double kUsualBudget = 600;  // seconds

struct TrackingOptions {
  bool record = false, ab = false, watch = false, bisect = false;
  bool gate = false, freeze = false, no_instructions = false;
  double margin = 5;      // per cent
  double budget = 0;      // seconds; 0: of --ab kUsualBudget, of --bisect without end
  int64_t samples = 7;    // pairs per point of --record
  std::string markdown;   // file of --ab and --watch
  std::string commit;     // of a recorded point, when not this program's own
  std::string candidate;  // the program that --record measures
  std::string series;     // "A..B": the commits that --record measures, one after another
  std::string build;      // a shell command that builds a commit

  void Declare(OptionList& line);
  bool any() const { return record || ab || watch || bisect; }
};

// The rest of the options of `assay bench`, as far as they matter here.
struct TrackingSetting {
  std::vector<std::string> paths;  // with --ab and --bisect the two sides stand first
  std::string backend, python, db;
  double min_seconds = 0.05, max_seconds = 0.5;
  uint64_t seed = 1;
  bool json = false;
  int64_t shard_index = 0, shard_count = 1;  // of the workloads of --record
};

absl::StatusOr<int> RunTracking(const TrackingOptions& options, const TrackingSetting& setting);

// The parts, each for one flag.
absl::StatusOr<int> RecordSeries(const TrackingOptions& options, const TrackingSetting& setting);
absl::StatusOr<int> CompareSides(const TrackingOptions& options, const TrackingSetting& setting);
absl::StatusOr<int> WatchSeries(const TrackingOptions& options, const TrackingSetting& setting);
absl::StatusOr<int> BisectSides(const TrackingOptions& options, const TrackingSetting& setting);

}  // namespace assay
