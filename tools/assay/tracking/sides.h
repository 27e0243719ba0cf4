// The two sides that --ab and --bisect are given, and why they differ.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/tracking/commits.h"
#include "bench/tracking/side.h"
#include "tools/assay/tracking/tracking.h"

namespace assay {

struct TwoSides {
  Side a, b;
  std::vector<std::string> workloads;  // paths of modules
};
// The first two words are the sides, the rest are paths. Errors say which is wrong.
absl::StatusOr<TwoSides> SidesOf(const TrackingOptions& options, const TrackingSetting& setting);
// A side by name; "xla@0.4.31" is a release, which is installed as a peer unless it was before.
absl::StatusOr<Side> OneSide(const std::string& name, const TrackingOptions& options,
                             const TrackingSetting& setting);
// The commits of this folder's repository, built beside the store.
CommitBuilds BuildsBeside(const TrackingOptions& options, const TrackingSetting& setting);

// Compares what the compilers of both sides make of the workload.
ChangeCause ExplainSides(const Side& a, const Side& b, const std::string& path,
                         const SampleOptions& sampling);

}  // namespace assay
