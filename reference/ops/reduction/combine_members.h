// The operands of several devices combined as a reduce would: all-reduce and reduce-scatter.
// Document: operation semantics 15.1.
#pragma once

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// The operands of the members of a group, arrays of `shape`, combined element by element: with the
// computation of `op` in any order that a reduce allows, starting from the first member.
absl::StatusOr<Value> CombineMembers(Interpreter& interpreter, const OpContext& op,
                                     const Shape& shape, absl::Span<const Value* const> members);

}  // namespace assay::reference
