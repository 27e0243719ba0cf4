// Element-wise steps of big arrays in bound mode, taken through together a block of elements at a
// time. A bound is eight times as big as an f32, and most of them are read once, by the next op: so
// those that no other step needs never exist as a whole. The results are those of one step after
// the other.
#pragma once

#include "absl/functional/function_ref.h"
#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// What the interpreter makes of one step with a result of `shape`.
using ApplyStep = absl::FunctionRef<absl::StatusOr<Value>(
    const Plan::Step& step, const Shape& shape, absl::Span<const Value* const> operands)>;

// The end of the steps from `first` on that gain by it; `first` if none do. `values` holds the
// results of the steps before, and those of all parameters and constants.
size_t EndOfBlockwiseSteps(const Plan& plan, size_t first, absl::Span<const Value> values);

// Runs the steps [first, end), which that function gave: sets the values that are read later.
absl::Status RunBlockwise(const Plan& plan, size_t first, size_t end, MemoryMeter& memory,
                          ApplyStep apply, std::vector<Value>& values);

}  // namespace assay::reference
