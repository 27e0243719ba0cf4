// The options of performance over time, and who does what they ask for.
#include "tools/assay/tracking/tracking.h"

#include "spec/base/strings.h"

namespace assay {

void TrackingOptions::Declare(OptionList& line) {
  line.AddFlag("--record", record,
               "Add a point per workload to the series of the store, beside a frozen reference");
  line.AddFlag("--ab", ab,
               "Compare two sides, the first two words: programs, commits (built in a worktree), "
               "releases (xla@0.4.31) or backends (cpu:without=loop-fusion)");
  line.AddFlag("--watch", watch, "Find what changed in the series of the store, and why");
  line.AddFlag("--bisect", bisect,
               "GOOD BAD MODULE or GOOD..BAD MODULE: find the commit, the release "
               "(xla@0.4.31..0.10.2) or the first of several sides since which it is slower");
  line.AddFlag("--gate", gate,
               "With --ab: exit status 1 if a workload is slower; with --watch: if one of the last "
               "five points is");
  line.Add("--margin", margin, "Differences below this many per cent are the same")
      .Positive()
      .ShowDefault();
  line.AddDuration("--budget", budget,
                   "End undecided after this; --ab without it after ten minutes, --bisect never");
  line.Add("--samples", samples,
           "Pairs of processes per point of --record; three times as many where they disagree")
      .Positive()
      .ShowDefault();
  line.Add("--candidate", candidate, "Record this side instead of this program");
  line.Add("--series", series,
           "Record each commit of A..B, along first parents; those with a point of this flag are "
           "left out, so that it can go on");
  line.Add("--build", build,
           "A shell command that builds a commit in its folder and leaves the program at $PROGRAM "
           "(default: CMake and Ninja)");
  line.Add("--commit", commit, "Record under this commit");
  line.AddFlag("--freeze", freeze, "Make this program the reference of new series");
  line.AddFlag("--no-instructions", no_instructions, "Do not count instructions");
  line.Add("--markdown", markdown, "Write the table of --ab or --watch to this file");
}

absl::StatusOr<int> RunTracking(const TrackingOptions& options, const TrackingSetting& setting) {
  const int wanted = (options.record ? 1 : 0) + (options.ab ? 1 : 0) + (options.watch ? 1 : 0) +
                     (options.bisect ? 1 : 0);
  if (wanted != 1) {
    return absl::InvalidArgumentError("one of --record, --ab, --watch and --bisect at a time");
  }
  if (options.ab) return CompareSides(options, setting);
  if (options.watch) return WatchSeries(options, setting);
  if (options.bisect) return BisectSides(options, setting);
  if (setting.paths.empty()) {
    return absl::InvalidArgumentError("--record needs modules, or folders of modules");
  }
  return RecordSeries(options, setting);
}

}  // namespace assay
