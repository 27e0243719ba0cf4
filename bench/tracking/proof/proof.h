// Measures the detector: series with planted changes, where every alarm is known to be right or
// wrong, for our rule and for those that others go by, on the same data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct ProofRule {
  std::string name;
  int64_t planted = 0, found = 0, found_in_time = 0;  // within three points
  double delay = 0;                                   // mean, in points, of those found
  int64_t false_alarms = 0;  // in series without a change, and far from the change elsewhere
  int64_t points = 0;        // at which a false alarm could have been
};

struct ProofRow {
  std::string noise;  // which
  double step = 0;    // planted, relative: 0.05; 0: none
  std::vector<ProofRule> rules;
};

// `recorded`: series of ratios measured without any change; more are drawn from their residues by
// shuffling blocks. `series` per noise and step; each has `points`. The seed decides everything.
std::vector<ProofRow> ProveDetector(const std::vector<std::vector<double>>& recorded,
                                    int64_t series, int64_t points, uint64_t seed);

// When each rule alarms, and for which point, when the points come one by one. The first is ours,
// which names the place; the others mean the newest point.
inline constexpr const char* kRuleNames[] = {"Assay", "30 % of median", "t-test, 2 %", "IQR fence"};
struct RuleAlarm {
  size_t when = 0, where = 0;
};
std::vector<std::vector<RuleAlarm>> AlarmsOfRules(const std::vector<double>& values);

// The rows as a Markdown table.
std::string ProofTable(const std::vector<ProofRow>& rows);

}  // namespace assay
