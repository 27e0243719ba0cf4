// Pairs of samples, and what they come to.
#include "bench/tracking/point.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "bench/statistics.h"
#include "spec/base/status_macros.h"

namespace assay {

namespace {

// True if the ratios of pairs are so close to each other that more of them would tell little: the
// error of their median is about half a percent.
bool Agree(const std::vector<double>& ratios) {
  constexpr double kError = 0.005;
  if (ratios.size() < 2) return true;
  const double middle = EstimateMedian(ratios).median;
  std::vector<double> off;
  for (double ratio : ratios) off.push_back(std::fabs(std::log(ratio / middle)));
  // Two lie as far from their middle as each other, seven tenths of a spread on average.
  const double spread = EstimateMedian(off).median / 0.6745;
  return spread <= kError * std::sqrt(static_cast<double>(ratios.size()));
}

}  // namespace

absl::StatusOr<PointRow> TakePoint(const Side& side, const Side& frozen, const std::string& path,
                                   int64_t pairs, const SampleOptions& sampling, PointRow point) {
  std::vector<double> ours, theirs, our_calm, their_calm;
  std::mt19937_64 order(sampling.seed);
  // The times of calm runs are compared if every process tells them.
  auto ratios = [&] {
    const bool is_told = std::min(*std::min_element(our_calm.begin(), our_calm.end()),
                                  *std::min_element(their_calm.begin(), their_calm.end())) > 0;
    return is_told ? PairedRatios(our_calm, their_calm) : PairedRatios(ours, theirs);
  };
  for (int64_t i = 0; i < pairs || (i < 3 * pairs && !Agree(ratios())); ++i) {
    const bool ours_first = (order() & 1) == 0;
    for (const bool is_ours : {ours_first, !ours_first}) {
      ASSAY_ASSIGN_OR_RETURN(const SideSample sample,
                             TakeSample(is_ours ? side : frozen, path, sampling));
      (is_ours ? ours : theirs).push_back(sample.run_seconds);
      (is_ours ? our_calm : their_calm).push_back(sample.calm_seconds);
      if (!is_ours) continue;
      for (const auto& [name, value] : sample.measures) {
        double& kept = point.measures[name];
        // Compilation is slowed by others, never hastened: the least time is the program's own.
        const bool is_time = name.rfind("compile", 0) == 0;
        kept = is_time && kept > 0 ? std::min(kept, value) : value;
      }
    }
  }
  const MedianInterval ratio = EstimateMedian(ratios());
  point.measures["ratio"] = ratio.median;
  point.measures["ratio.lower"] = ratio.lower;
  point.measures["ratio.upper"] = ratio.upper;
  point.measures["run_seconds"] = EstimateMedian(ours).median;
  return point;
}

}  // namespace assay
