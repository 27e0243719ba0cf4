// The names by which decisions are counted and planted defects are aimed: one row for each rule of
// rewriting, pass, analysis, buffer assignment and code generation that asks a gate.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "spec/backend/backend.h"

namespace assay {

struct DecisionRule {
  std::string_view name;  // stable: campaigns and defects refer to it
  DecisionKind kind;      // of the decisions that it takes
};

absl::Span<const DecisionRule> DecisionRules();       // by name
const DecisionRule* FindRule(std::string_view name);  // nullptr: there is none
// The rule whose name is spelt most like `name`.
const DecisionRule& NearestRule(std::string_view name);

}  // namespace assay
