// Notes more of a result than its bounds: to how many bits it was rounded, whether the bits of its
// NaNs are known, and how large the numbers were that it was made of (magnitudes.h).
#pragma once

#include "reference/values/op_context.h"

namespace assay::reference {

// Notes it in the result of an op in bound mode, whose bounds are made.
void NoteFacts(const OpContext& op, Array& result);
// Notes it in those arrays of `value` that an op with computations of its own has made itself:
// nobody else holds them. Arrays that passed through, or that its computations made, have theirs.
void NoteFreshFacts(const OpContext& op, MemoryMeter& memory, Value& value);

}  // namespace assay::reference
