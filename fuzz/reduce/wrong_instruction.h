// The instruction that computes a wrong value from right ones, and small programs around it: where
// a failure sits, without knowing anything of the compiler.
#pragma once

#include <vector>

#include "fuzz/reduce/reducer.h"
#include "spec/backend/check.h"

namespace assay {

// The first instruction of the entry computation, operands first, whose array the backend gets
// wrong when all arrays are outputs; nullptr when that program fails in another way or not at all.
// Compiles once.
const Instruction* FirstWrongInstruction(const CheckSubject& subject, const Module& module,
                                         const std::vector<Literal>& inputs);

// The instruction and what its operands are, without leaves: "log(exponential)".
std::string PlaceOf(const Instruction& instruction);

// Programs that compute `instruction`, of the entry of `whole`, from what is one, two, three, ...
// steps before it, smallest first; those arrays become inputs with the values that `evaluate` gives
// them. None where it gives no values.
std::vector<ReduceCase> ProgramsAround(const ReduceCase& whole, const Instruction* instruction,
                                       const EvaluateFunction& evaluate);

}  // namespace assay
