// Decides whether one program is faster than another, by the ranks of paired samples: no assumption
// about how times are distributed, and a few samples that something disturbed weigh little.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/statistics.h"

namespace assay {

// Wilcoxon's signed-rank test: the two-sided probability of ranks as uneven as those of `values`
// if they lay evenly around `center`. Exact up to 20 values, by the normal approximation above.
double SignedRankP(const std::vector<double>& values, double center = 0);
// The Mann-Whitney test: the same for two samples that are not paired (normal approximation).
double RankSumP(const std::vector<double>& a, const std::vector<double>& b);
// The probability that a value of `b` is above one of `a`, minus that of the opposite: -1 to 1.
double CliffsDelta(const std::vector<double>& a, const std::vector<double>& b);
// Welch's t-test, two-sided (for comparison with what others do).
double WelchP(const std::vector<double>& a, const std::vector<double>& b);

enum class Change : uint8_t { kUndecided, kSame, kFaster, kSlower };
const char* Name(Change change);

// Samples of one workload; the two of the same number were taken one after the other.
struct PairedSamples {
  std::string workload;
  std::vector<double> a, b;  // seconds
  int looks = 1;             // times that a decision was tried, this one included
};

struct Comparison {
  Change change = Change::kUndecided;
  MedianInterval ratio;   // b / a: above 1, b is slower
  double p = 1;           // of "no difference", corrected for the looks
  double adjusted_p = 1;  // by Holm's method for the number of workloads, too
  double delta = 0;       // Cliff's
};

// Decides each workload: faster or slower if the difference is significant at `alpha` after both
// corrections and the median ratio is off 1 by more than `margin` / 2; the same if the interval of
// the median ratio is within 1 +- `margin`; else undecided, and more samples are needed.
std::vector<Comparison> Compare(const std::vector<PairedSamples>& all, double margin,
                                double alpha = 0.05);

// Holm's step-down correction, in the order given.
std::vector<double> HolmAdjusted(const std::vector<double>& p);

}  // namespace assay
