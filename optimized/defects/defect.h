// A planted defect as data: which gate it sits in, which operator it applies there, and where its
// guard lets it bite. The compiler knows operators, not defects.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"

namespace assay {

// An instruction at a gate, or one of its operands, seen through its numbers.
struct NumberGuard {
  int64_t operand = -1;   // -1: the instruction itself
  std::string attribute;  // "": the elements of the operand, which is a constant
  std::string field;      // of slices, paddings and windows: "stride"; "": any
  int64_t min = 0, max = 0;
};

struct Defect {
  std::string name;  // "ds-of-ds-clamp"
  // The rule of the decision that it bends (optimized/gates/rule_names.h), "ds-of-ds", or one of
  // its claims (claim_names.h), "slice-of-pad/no-interior".
  std::string gate;
  DecisionKind kind = DecisionKind::kRewrite;
  std::string op;  // operator, one of DefectOperators()
  std::map<std::string, std::string> parameters;
  // Guard: the defect bites only where all given conditions hold for the instruction at the gate.
  std::vector<ElementType> types;  // of its result; empty: any
  int64_t min_rank = 0;
  int64_t min_elements = 0;
  int64_t max_elements = -1;  // -1: no limit
  int64_t min_operands = 0;
  std::vector<std::string> opcodes;  // of the instruction; empty: any
  std::vector<NumberGuard> numbers;  // each: some number there lies in [min, max]

  // A parameter of the operator, or `absent` if it is not given.
  std::string Text(const std::string& parameter, const std::string& absent = "") const;
  int64_t Integer(const std::string& parameter, int64_t absent) const;
  bool GuardHolds(const Instruction* at) const;
};

// True if `defect` sits at that claim, its operator is claim-true, and its guard holds.
bool ForgetsClaim(const Defect& defect, std::string_view claim, const Instruction* at);
// `known`, bent if `defect` sits at that claim, its operator is integer-offset, and its guard
// holds.
int64_t BendNumber(const Defect& defect, std::string_view claim, const Instruction* at,
                   int64_t known);
// The operator integer-offset by itself.
int64_t BendKnown(const Defect& defect, int64_t known);

// {"name": "ds-of-ds-clamp", "summary": "for people", "gate": "ds-of-ds", "kind": "rewrite", "op":
// "drop-op",
//  "parameters": {"opcode": "clamp"}, "guard": {"types": ["s32"], "min_rank": 1, "min_elements": 2,
//  "max_elements": 64, "min_operands": 3, "opcodes": ["slice"],
//  "attribute": {"name": "slice", "field": "stride", "operand": 0, "min": 2, "max": 8},
//  "constant": {"operand": 1, "min": 0, "max": 0}}}
// An attribute or constant may be a list of such objects, all of which hold.
// `kind` is a Name(DecisionKind) and may be left out for rewrites; `guard` and `parameters` may be
// left out. Unknown fields, operators, parameters and gates are errors (invalid argument).
absl::StatusOr<Defect> ParseDefect(const std::string& json);

}  // namespace assay
