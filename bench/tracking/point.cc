// Pairs of samples, and what they come to.
#include "bench/tracking/point.h"

#include <algorithm>
#include <random>
#include <vector>

#include "bench/statistics.h"
#include "spec/base/status_macros.h"

namespace assay {

absl::StatusOr<PointRow> TakePoint(const Side& side, const Side& frozen, const std::string& path,
                                   int64_t pairs, const SampleOptions& sampling, PointRow point) {
  std::vector<double> ours, theirs;
  std::mt19937_64 order(sampling.seed);
  for (int64_t i = 0; i < pairs; ++i) {
    const bool ours_first = (order() & 1) == 0;
    for (const bool is_ours : {ours_first, !ours_first}) {
      ASSAY_ASSIGN_OR_RETURN(const SideSample sample,
                             TakeSample(is_ours ? side : frozen, path, sampling));
      (is_ours ? ours : theirs).push_back(sample.run_seconds);
      if (!is_ours) continue;
      for (const auto& [name, value] : sample.measures) {
        double& kept = point.measures[name];
        // Compilation is slowed by others, never hastened: the least time is the program's own.
        const bool is_time = name.rfind("compile", 0) == 0;
        kept = is_time && kept > 0 ? std::min(kept, value) : value;
      }
    }
  }
  const MedianInterval ratio = EstimateMedian(PairedRatios(ours, theirs));
  point.measures["ratio"] = ratio.median;
  point.measures["ratio.lower"] = ratio.lower;
  point.measures["ratio.upper"] = ratio.upper;
  point.measures["run_seconds"] = EstimateMedian(ours).median;
  return point;
}

}  // namespace assay
