// Arrays with run-time sizes. A value of a bounded dynamic shape is an array of exactly its
// run-time sizes: padding does not exist, so that nothing can depend on it. Document: operation
// semantics chapter 16.
#pragma once

#include "absl/status/statusor.h"
#include "reference/op_evaluations.h"
#include "spec/ir/instruction.h"

namespace assay::reference {

// Whether the shape, or a part of the tuple, has a dynamic dimension.
bool IsDynamic(const Shape& shape);
// Whether the result or an operand of the instruction has one.
bool TouchesDynamic(const Instruction& instruction);

// The shape of the instruction's result on operands of these run-time sizes: static, within the
// bounds of the instruction's shape. Errors: sizes that do not fit each other (rejected), ops whose
// meaning on dynamic shapes is not defined here (unsupported).
absl::StatusOr<Shape> RunTimeShape(const Instruction& instruction,
                                   absl::Span<const Value* const> operands);

}  // namespace assay::reference
