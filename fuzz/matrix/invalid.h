// Modules that are wrong in one respect: a valid program of every op, of which one rule is broken.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

struct InvalidModule {
  std::string name;  // "attribute-missing/pad": the rule that is broken, and on which op
  std::string_view rule;
  std::unique_ptr<Module> module;  // parsed, and refused by the verifier
};

// The rules that are broken, in order.
struct InvalidRule {
  std::string_view name, text;
};
absl::Span<const InvalidRule> InvalidRules();

// Every rule on every op on which it can be broken, the same in every run. The verifier refuses
// each: breaking a rule that leaves a program valid makes no case.
std::vector<InvalidModule> DerivedInvalidModules();

}  // namespace assay
