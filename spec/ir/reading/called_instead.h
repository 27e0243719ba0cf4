// Finds the computation that another one merely calls: frameworks and inliners leave such wrappers
// around combiners.
#pragma once

#include <algorithm>

#include "spec/ir/computation.h"
#include "spec/ir/instruction.h"

namespace assay {

// The computation itself, where its root is no call with its own parameters in their order.
inline const Computation& CalledInstead(const Computation& computation) {
  const Computation* called = &computation;
  while (called->root()->opcode() == Opcode::kCall) {
    const Instruction* call = called->root();
    const absl::Span<Instruction* const> parameters = called->parameters();
    if (!std::equal(call->operands().begin(), call->operands().end(), parameters.begin(),
                    parameters.end())) {
      break;
    }
    called = call->callee();
  }
  return *called;
}

}  // namespace assay
