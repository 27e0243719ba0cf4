// The operators of planted defects: the closed list with their parameters, and the code of those
// that bend what a rewrite has just added.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "optimized/defects/defect.h"

namespace assay {

struct DefectOperatorInfo {
  std::string_view name;
  DecisionKind kind;         // of the gates it is made for; claim-true serves every kind
  std::string_view meaning;  // with its parameters
};
// The closed list of operators per kind of gate.
absl::Span<const DefectOperatorInfo> DefectOperators();

// An error unless the operator exists, fits the kind of the gate, and has only parameters that it
// knows, of the right form.
absl::Status CheckOperator(const Defect& defect);

// Applies the operator of `defect` to the instructions with an id of `first_new_id` or above from
// which `with` is computed. Returns what shall stand for `with` afterwards: `with` itself, or an
// operand of it if it was bypassed. A change after which an instruction would break a constraint of
// its op, or have another shape, is undone: planted defects give wrong answers, not modules that
// the verifier refuses.
Instruction* BendRewrite(const Defect& defect, int64_t first_new_id, Instruction* with);

}  // namespace assay
