// The computation of a fold where it is one op that has a meaning of its own for folds. Document:
// operation semantics chapter 10, "Recognised combiners".
#pragma once

#include <optional>

#include "reference/scalar/binary_ops.h"
#include "spec/ir/computation.h"

namespace assay::reference {

// The op of a combiner that is one of add, multiply, maximum, minimum, and, or, xor applied to its
// two parameters, in either order, with or without converts around it; also where calls, branches,
// loops of a few trips or the least of equal values say the same, and of integers and predicates
// where identities and choices by comparison do.
std::optional<Opcode> RecognisedCombiner(const Computation& computation);

// Calls f(Op{}) with the meaning of a recognised combiner.
template <typename F>
void VisitCombiner(Opcode opcode, F f) {
  switch (opcode) {
    case Opcode::kAdd:
      return f(Add{});
    case Opcode::kMultiply:
      return f(Multiply{});
    case Opcode::kMaximum:
      return f(Maximum{});
    case Opcode::kMinimum:
      return f(Minimum{});
    case Opcode::kAnd:
      return f(And{});
    case Opcode::kOr:
      return f(Or{});
    default:
      return f(Xor{});
  }
}

}  // namespace assay::reference
