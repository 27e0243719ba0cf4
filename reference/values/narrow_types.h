// Element types that C++ does not compute: integers below a byte and floats of 8 bits or fewer. Ops
// on them are done in the next wider type that is computed (s8, u8, f32) and converted back, as
// operation semantics 1.4 rule 5 defines it; f32 holds every value of these types, and its
// 24 >= 2 p + 2 bits make the second rounding harmless.
#pragma once

#include "spec/types/element_type.h"

namespace assay::reference {

// True of types that C++ does not compute.
bool IsNarrowType(ElementType type);
// The type in which ops on `type` are done; itself for all other types.
ElementType ComputedType(ElementType type);

}  // namespace assay::reference
