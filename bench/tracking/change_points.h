// Finds where a series of performance changed its level. Deterministic measures are compared
// exactly; ratios of times are decided by three methods that vote, with thresholds learned from the
// noise of the series itself. Everything is recomputed from the points whenever somebody looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct ChangePoint {
  size_t at = 0;                 // the first point of the new level
  double before = 0, after = 0;  // medians of the levels
  int votes = 0;                 // methods that found it, of kChangeMethods
  double Relative() const { return before == 0 ? 0 : after / before - 1; }
};
inline constexpr int kChangeMethods = 3;

// Finds the changes of positive values with noise. A level has at least `kShortestLevel` points.
inline constexpr size_t kShortestLevel = 3;
std::vector<ChangePoint> FindChanges(const std::vector<double>& values);

// The change at a place that is known beforehand, as the code changed there: [from, at) against
// [at, to). It needs no other method's vote, and less of a difference. Nothing: it may be chance,
// or a level is too short.
std::optional<ChangePoint> ChangeAt(const std::vector<double>& values, size_t from, size_t at,
                                    size_t to);

// Finds steps of values that every run of the same code repeats. Values closer than
// `tolerance` (relative) are the same.
std::vector<ChangePoint> FindSteps(const std::vector<double>& values, double tolerance = 0);

// The spread (standard deviation) of one point, from the differences of neighbours, which a step
// disturbs once only. Of logarithms; at least 0.0005.
double NoiseOf(const std::vector<double>& logarithms);

// Rules that others go by, for comparison on the same data: does the newest point of the prefix
// alarm?
// The newest value is off the median of the five before by 30 %.
bool AlarmsByThirtyPercent(const std::vector<double>& prefix);
// Welch's t-test of the newest 5 against the 12 before at p < 0.05 and a difference of 2 %.
bool AlarmsByTTest(const std::vector<double>& prefix);
// The newest change from point to point is outside of the fence Q3 + 3 IQR of the changes between
// the 30 points before.
bool AlarmsByFence(const std::vector<double>& prefix);

}  // namespace assay
