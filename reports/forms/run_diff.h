// The verdicts of two runs side by side.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/store.h"

namespace assay {

struct VerdictChange {
  std::string name, subject;
  std::string before, after;  // status words; kAbsent where a run has no such case
  std::string detail;         // of the run in which something is wrong, else of the second
  bool IsWorse() const;       // it is wrong now, and was not
  bool IsBetter() const;
};

struct RunDiff {
  static constexpr char kAbsent[] = "not there";
  int64_t equal = 0;                                             // cases with the same verdict
  std::map<std::pair<std::string, std::string>, int64_t> moves;  // (before, after) -> cases
  std::vector<VerdictChange> changes;  // worse ones first, by name within each kind
  int64_t worse = 0, better = 0;
};

// Cases are the same by name, inputs and who was judged; where the two runs judged different
// backends, the one stands for the other.
RunDiff DiffRuns(const RunRow& before, const RunRow& after);

// Text for terminals (at most `most` changes, the rest counted), Markdown for pull requests.
std::string DiffText(const RunRow& before, const RunRow& after, const RunDiff& diff, size_t most);
std::string DiffMarkdown(const RunRow& before, const RunRow& after, const RunDiff& diff,
                         size_t most);
// One object with every change (docs/json.md).
std::string DiffJson(const RunRow& before, const RunRow& after, const RunDiff& diff);

}  // namespace assay
