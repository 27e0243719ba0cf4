// Every decision of the compiler passes a gate. The decisions of one compilation form one numbered
// sequence, the same on every run and for every number of compile threads. A gate counts, reports,
// refuses above a limit, and plants defects. Design: "Every decision of the compiler passes a
// gate".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

// A planted defect: which gate it sits in, what it does there, and when. Data; the compiler knows
// operators, not defects.
struct Defect {
  std::string name;  // "ds-of-ds-clamp"
  std::string gate;  // rule of the decision it bends, "ds-of-ds"
  DecisionKind kind = DecisionKind::kRewrite;
  std::string op;  // operator, one of DefectOperators()
  std::map<std::string, std::string> parameters;
  // Guard: the defect bites only where all given conditions hold for the instruction at the gate.
  std::vector<ElementType> types;  // of its result; empty: any
  int64_t min_rank = 0;
  int64_t min_elements = 0;
  int64_t max_elements = -1;  // -1: no limit
};
// {"name": "ds-of-ds-clamp", "summary": "for people", "gate": "ds-of-ds", "kind": "rewrite", "op":
// "drop-op",
//  "parameters": {"opcode": "clamp"}, "guard": {"types": ["s32"], "min_rank": 1, "min_elements": 2,
//  "max_elements": 64}}
// `kind` is a Name(DecisionKind) and may be left out for rewrites; `guard` and `parameters` may be
// left out. Unknown fields, operators and parameters are errors (invalid argument).
absl::StatusOr<Defect> ParseDefect(const std::string& json);

struct DefectOperatorInfo {
  std::string_view name;
  DecisionKind kind;         // of the gates it is made for; claim-true serves every kind
  std::string_view meaning;  // with its parameters
};
// The closed list of operators per kind of gate.
absl::Span<const DefectOperatorInfo> DefectOperators();

class Gates {
 public:
  // limit < 0: nothing is refused.
  explicit Gates(int64_t limit = -1, std::optional<Defect> defect = std::nullopt);

  // An optional decision about `at`: true if it may be taken. False means the dull alternative.
  bool Allow(DecisionKind kind, std::string_view rule, const Instruction* at);
  // A decision that must be taken for the result to compile: counted and reported, never refused.
  void Require(DecisionKind kind, std::string_view rule, const Instruction* at);

  // A fact that an analysis found; `nullopt` and false mean "not known". Refused: not known. A
  // defect bends what passes: integers by an amount, claims from false to true. Only what
  // is known, or claimed true, takes a number: ask for a claim last, when a decision hangs on it.
  std::optional<int64_t> IntegerFact(std::string_view rule, const Instruction* at,
                                     std::optional<int64_t> known);
  bool Claim(DecisionKind kind, std::string_view rule, const Instruction* at, bool holds);

  // The defect planted in the latest decision, if it is of this rule and its guard holds for `at`;
  // code generation applies its own operators (loop bounds, addresses, predicates) with it.
  const Defect* Planted(DecisionKind kind, std::string_view rule, const Instruction* at) const;

  const std::vector<Decision>& decisions() const { return decisions_; }
  int64_t count() const { return static_cast<int64_t>(decisions_.size()); }
  // Decisions taken, by rule.
  std::map<std::string, int64_t> Counts() const;

 private:
  int64_t limit_;
  std::optional<Defect> defect_;
  std::vector<Decision> decisions_;
};

// One rewrite: asks the gate, notes which instructions the rule adds, and replaces. Usage:
//   Rewrite rewrite(gates, "slice-of-slice", slice);
//   if (!rewrite) return false;
//   Instruction* merged = computation->Add(...);
//   return rewrite.Replace(merged);
class Rewrite {
 public:
  Rewrite(Gates& gates, std::string_view rule, Instruction* target, bool required = false);
  explicit operator bool() const { return allowed_; }
  // Replaces all uses of the target by `with` (after a planted defect, if one sits here, was
  // applied to what the rule added), then removes the target and what became dead. Returns true.
  bool Replace(Instruction* with);

 private:
  Instruction* target_;
  bool allowed_ = false;
  const Defect* planted_ = nullptr;  // bites here
  int64_t first_new_id_ = 0;         // instructions from this id on were added by the rule
};

}  // namespace assay
