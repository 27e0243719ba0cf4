// Why a program became faster or slower: what the compiler made on both sides is compared, and the
// difference that explains most is named.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace assay {

// The work of the compiler on a workload, by kind, as texts; what is not known is left out.
//   "hlo"        the optimized module
//   "decisions"  lines "KIND RULE COUNT" of the decisions that were taken, sorted
//   "plan"       lines "OP | how it is computed", one per step
//   "passes"     lines "PASS DECISIONS RULE RULE ..." of those that changed something, in order
//   "code"       a hash of the machine code
using Made = std::map<std::string, std::string>;

struct ChangeCause {
  // Equal for workloads whose change has the same cause: "rule fuse-loop", "code generation",
  // "machine or library".
  std::string key;
  std::string sentence;              // for people
  std::vector<std::string> details;  // every difference that was found, largest first
  bool is_same_code = false;         // then the change is none of the compiler's
};

ChangeCause Explain(const Made& before, const Made& after);

// The texts from what `assay print --json` writes for the kind: a JSON object per line.
std::string DecisionText(const std::string& json_lines);
std::string PlanText(const std::string& json_lines);
std::string PassText(const std::string& json_lines);

}  // namespace assay
