// The meaning of the ops that fold values (spec/ir/reading/combiner.h). Document: operation
// semantics chapter 10, "Recognised combiners".
#pragma once

#include "reference/scalar/binary_ops.h"

namespace assay::reference {

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
