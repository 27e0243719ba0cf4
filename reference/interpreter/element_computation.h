// Computations of scalars applied to arrays element by element: what map does, and what folds,
// sorts and windows do with the computations that they call.
#pragma once

#include <vector>

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// Applies a computation of scalars to equally many elements of several arrays, all of
// `dimensions`: to all at once if the interpreter can lift it to arrays, else to one element after
// the other. The results are the leaves of the computation's result, arrays of `dimensions`.
absl::StatusOr<std::vector<Value>> ApplyToElements(Interpreter& interpreter,
                                                   const Computation& computation,
                                                   absl::Span<const Value> arguments,
                                                   absl::Span<const int64_t> dimensions);

}  // namespace assay::reference
