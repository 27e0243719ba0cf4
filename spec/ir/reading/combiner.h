// The computation of a fold where it is one op. Document: operation semantics chapter 10,
// "Recognised combiners".
#pragma once

#include <optional>

#include "spec/attributes/opcode.h"
#include "spec/ir/computation.h"

namespace assay {

// The op of a combiner that is one of add, multiply, maximum, minimum, and, or, xor applied to its
// two parameters, in either order, with or without converts around it; also where calls, branches,
// loops of a few trips or the least of equal values say the same, and of integers and predicates
// where identities and choices by comparison do.
std::optional<Opcode> ReadCombiner(const Computation& computation);

}  // namespace assay
