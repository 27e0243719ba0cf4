// Statistics of timings: no assumption about their distribution, no random resampling.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

// The median and the narrowest symmetric pair of order statistics that holds the true median with
// probability `coverage` >= 0.95, whatever the distribution (binomial argument). With fewer than
// six samples no pair does: then the extremes, with the coverage that they have.
struct MedianInterval {
  double median = 0, lower = 0, upper = 0;
  double coverage = 0;
  int64_t samples = 0;
};
MedianInterval EstimateMedian(std::vector<double> samples);

// The sample that a tenth of them lie below, 0 of nothing: the time of runs that nobody disturbed.
// Others on the machine only ever make a run slower, so that it is steadier than the median.
double CalmTenth(std::vector<double> samples);

// a[i] / b[i]: samples taken in the same round share what the machine was doing then.
std::vector<double> PairedRatios(const std::vector<double>& a, const std::vector<double>& b);

// exp of the mean of logarithms; 0 of nothing.
double GeometricMean(const std::vector<double>& values);

}  // namespace assay
