// Reads a list of rules and kinds.
#include "optimized/gates/refusals.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "optimized/gates/rule_names.h"
#include "spec/base/strings.h"

namespace assay {

absl::StatusOr<Refusals> Refusals::Parse(std::string_view text) {
  Refusals refusals;
  const std::vector<std::string> names =
      absl::StrSplit(absl::string_view(text.data(), text.size()), '+', absl::SkipEmpty());
  for (const std::string& name : names) {
    const absl::Span<const DecisionRule> rules = DecisionRules();
    const bool is_kind = std::any_of(rules.begin(), rules.end(), [&](const DecisionRule& rule) {
      return Name(rule.kind) == name;
    });
    if (!is_kind && FindRule(name) == nullptr) {
      return absl::InvalidArgumentError(
          StrCat("no gate is called '", name, "'; did you mean '", NearestRule(name).name,
                 "'? A kind of gates, such as library, rewrite or kernel, stands for all of them"));
    }
    refusals.names_.insert(name);
  }
  return refusals;
}

}  // namespace assay
