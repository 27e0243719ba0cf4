// Element types that C++ does not compute: integers below a byte and floats of 8 bits or fewer. Ops
// on them are done in the next wider type that is computed (s8, u8, f32) and converted back, as
// operation semantics 1.4 rule 5 defines it; f32 holds every value of these types, and its
// 24 >= 2 p + 2 bits make the second rounding harmless.
#pragma once

#include "reference/values/op_evaluations.h"

namespace assay::reference {

// Whether the type is one of these.
bool IsNarrowType(ElementType type);
// The type in which ops on `type` are done; itself for all other types.
ElementType ComputedType(ElementType type);

// `array` in another element type, by the rules of convert.
absl::StatusOr<Array> ConvertArray(const OpContext& op, const Array& array, ElementType type,
                                   bool bounding);

// The op by its row for the wider types; `result` has the narrow type.
absl::Status ApplyWidened(const OpContext& op, const OpEvaluation& row, bool bounding,
                          Array& result);

// Ops on integers below a byte whose result depends on the width, by their codes.
const OpEvaluation* FindNarrowEvaluation(Opcode opcode);

}  // namespace assay::reference
