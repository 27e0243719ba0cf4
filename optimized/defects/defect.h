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

struct Defect {
  std::string name;  // "ds-of-ds-clamp"
  std::string gate;  // rule of the decision it bends (optimized/gates/rule_names.h): "ds-of-ds"
  DecisionKind kind = DecisionKind::kRewrite;
  std::string op;  // operator, one of DefectOperators()
  std::map<std::string, std::string> parameters;
  // Guard: the defect bites only where all given conditions hold for the instruction at the gate.
  std::vector<ElementType> types;  // of its result; empty: any
  int64_t min_rank = 0;
  int64_t min_elements = 0;
  int64_t max_elements = -1;  // -1: no limit

  // A parameter of the operator, or `absent` if it is not given.
  std::string Text(const std::string& parameter, const std::string& absent = "") const;
  int64_t Integer(const std::string& parameter, int64_t absent) const;
  bool GuardHolds(const Instruction* at) const;
};

// {"name": "ds-of-ds-clamp", "summary": "for people", "gate": "ds-of-ds", "kind": "rewrite", "op":
// "drop-op",
//  "parameters": {"opcode": "clamp"}, "guard": {"types": ["s32"], "min_rank": 1, "min_elements": 2,
//  "max_elements": 64}}
// `kind` is a Name(DecisionKind) and may be left out for rewrites; `guard` and `parameters` may be
// left out. Unknown fields, operators, parameters and gates are errors (invalid argument).
absl::StatusOr<Defect> ParseDefect(const std::string& json);

}  // namespace assay
