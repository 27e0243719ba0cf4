// What passes ask of a module.
#pragma once

#include <vector>

#include "spec/ir/module.h"

namespace assay {

// The entry and the computations that run as a unit, called by call, while or conditional and by nothing else; callees before
// callers.
std::vector<Computation*> UnitComputations(const Module& module);

// Result and operands are arrays of static shape; no control dependencies.
bool IsPlain(const Instruction& inst);

// May be executed again, dropped, moved or merged with its like: no side effect, randomness or communication, in it or in what
// it calls.
bool IsPure(const Instruction& inst);
bool IsPure(const Computation& computation);

}  // namespace assay
