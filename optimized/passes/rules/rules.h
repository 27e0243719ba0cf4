// Local rewrites as rows of tables: one rule looks at one instruction and its operands. The engine
// in algebraic_simplifier.cc tries them; each asks its gate under its own name.
// Document: operation semantics chapter 18.2 (what a rewrite must preserve).
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "optimized/passes/util/rule_context.h"

namespace assay {

// True if the instruction was replaced; it and what only it used are gone then. A rule is called
// only for instructions whose result and operands are static arrays without control dependencies.
using RuleFn = bool (*)(Instruction* inst, RuleContext& context, std::string_view rule);

struct Rule {
  std::string_view name;  // of the gate; stable
  Opcode opcode;          // of the instruction that is replaced
  RuleFn apply;
  std::string_view meaning;
};

absl::Span<const Rule> SliceRules();
absl::Span<const Rule> DynamicSliceRules();
absl::Span<const Rule> PadRules();
absl::Span<const Rule> ReshapeRules();
absl::Span<const Rule> BroadcastRules();
absl::Span<const Rule> ConcatenateRules();
absl::Span<const Rule> ConvertRules();
absl::Span<const Rule> ArithmeticRules();
absl::Span<const Rule> LogicRules();
absl::Span<const Rule> SelectRules();
absl::Span<const Rule> CombinerRules();
absl::Span<const Rule> ContractionRules();
// All of the above, in the order in which they are tried.
absl::Span<const Rule> AllRules();

}  // namespace assay
