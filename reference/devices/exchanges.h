// Computes what a collective makes of the operands of the members of a process group. Documents:
// operation semantics 15.1, hlo-format 4.0.7 and 4.3.
#pragma once

#include <vector>

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// A list of arrays for each member of a group, in the order of the group: operands or results.
using ByMember = std::vector<std::vector<Value>>;

// The results of every member, an array per operand, given the operands of all of them. Errors:
// operands that do not fit the group (rejected), operands that decide who gets what and depend on
// rounding (inconclusive).
absl::StatusOr<ByMember> ExchangeOperands(Interpreter& interpreter, const OpContext& op,
                                          const ByMember& given);

// The shape of what the collective gives in the end: an array, or a tuple of one per operand.
const Shape& FinalShape(const OpContext& op);

}  // namespace assay::reference
