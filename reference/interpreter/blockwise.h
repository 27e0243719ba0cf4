// Element-wise steps of big arrays in bound mode, run together a block of elements at a time. A
// bound is eight times as big as an f32, and most bounds are read once, by the next op: so the
// bounds that no other step needs never exist as a whole. The results are those of one step after
// the other.
#pragma once

#include "absl/functional/function_ref.h"
#include "reference/interpreter/plan.h"

namespace assay::reference {

// Evaluates one step with a result of `shape`.
using ApplyStep = absl::FunctionRef<absl::StatusOr<Value>(
    const Plan::Step& step, const Shape& shape, absl::Span<const Value* const> operands)>;

// True if element i of the step's result, an array of static shape, is made of elements i of the
// operands and of scalars.
bool IsElementByElement(const Plan::Step& step);

// The end of the steps from `first` on, a step of that kind, that gain by running together; `first`
// if none do. `values` holds the results of the steps before, and those of all parameters and
// constants.
size_t EndOfBlockwiseSteps(const Plan& plan, size_t first, absl::Span<const Value> values);

// Runs the steps [first, end) that EndOfBlockwiseSteps gave, and sets those of their values that
// are read later.
absl::Status RunBlockwise(const Plan& plan, size_t first, size_t end, MemoryMeter& memory,
                          ApplyStep apply, std::vector<Value>& values);

}  // namespace assay::reference
