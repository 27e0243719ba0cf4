// Facts about the ops that fold values into one: add, multiply, maximum, minimum, and, or and xor.
// Document: operation semantics chapter 10, "Reduce" (the initial value is the identity of the
// combiner).
#pragma once

#include "spec/ops/op_table.h"
#include "spec/types/literal.h"

namespace assay {

// The scalar that changes nothing when it is combined with another value. Of sums of floats it is
// +0, though -0 changes nothing either; of a float type without infinity the end of its range.
// f8e8m0fnu has no zero, and its value for sums is none. Zero for other ops than those above.
Literal IdentityOf(Opcode combiner, ElementType type);

// True of a scalar with that value, zeros of either sign alike; false for other ops than those
// above, and for types that do not have the value.
bool IsIdentity(const Literal& value, Opcode combiner);

// Combining a value with itself changes nothing.
bool IsIdempotent(Opcode combiner);

}  // namespace assay
