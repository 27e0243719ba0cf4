// Pairs the arrays of a program with those of the program after a pass.
#pragma once

#include <vector>

#include "conformance/dumps/program_run.h"

namespace assay {

// Indices into the values of two runs.
struct ValuePair {
  size_t before = 0, after = 0;
};

// Every value belongs to one pair at most; both have the same type and dimensions and as many loops
// around them. First those of the same name that hold the same numbers, then those of the same
// name, op_name and opcode, those that hold the same numbers, those that op_name and opcode alone
// tell, those of the same name; where most names do not hold what they held, numbers go before
// names. A pair of different numbers is a proposal: names may mean something else after a pass. In
// the order of `before`.
std::vector<ValuePair> PairValues(const ProgramRun& before, const ProgramRun& after);

}  // namespace assay
