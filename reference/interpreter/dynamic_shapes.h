// Arrays with run-time sizes. A value of a bounded dynamic shape is an array of exactly its
// run-time sizes: padding does not exist, so that nothing can depend on it. Document: operation
// semantics chapter 16.
#pragma once

#include "absl/status/statusor.h"
#include "reference/interpreter/op_evaluations.h"
#include "spec/ir/instruction.h"
#include "spec/ir/module.h"

namespace assay::reference {

// True if the shape, or a part of the tuple, has a dynamic dimension.
bool IsDynamic(const Shape& shape);
// True if the result or an operand of the instruction has a dynamic dimension.
bool TouchesDynamic(const Instruction& instruction);
// True if the op reads windows of operand 0, which may reach into what lies beyond its run-time
// sizes (operation semantics 16.1: unspecified there).
bool ReadsWindows(const Instruction& instruction);
// Applies such an op to operand 0 up to its bounds; windows as long as a dynamic dimension are cut
// off where that ends.
absl::StatusOr<Value> ApplyToWindows(Interpreter& interpreter, const Evaluation& how,
                                     const OpContext& op);
// Applies another op; its result has the shape that the run-time sizes of the operands give:
// static, within the bounds of the instruction's shape. Errors: sizes that do not fit each other
// (rejected), ops whose meaning on dynamic shapes is not defined here (unsupported).
absl::StatusOr<Value> ApplyAtRunTimeSize(Interpreter& interpreter, const Evaluation& how,
                                         const OpContext& op);

// Cuts the entry's arguments to the sizes that the module's dynamic parameter bindings name
// (operation semantics 16.1).
absl::Status BindSizes(Interpreter& interpreter, const Module& module,
                       std::vector<Value>& arguments);

}  // namespace assay::reference
