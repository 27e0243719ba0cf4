// Which array of a program is which array of the program after a pass.
#pragma once

#include <vector>

#include "conformance/dumps/program_run.h"

namespace assay {

// Indices into the values of two runs.
struct ValuePair {
  size_t before = 0, after = 0;
};

// Every value belongs to one pair at most; both have the same type and dimensions and as many loops
// around them. First those that hold the same numbers, then those of the same name, op_name and
// opcode, then those that op_name and opcode alone tell, then those of the same name. So a pair is
// a proposal only where the numbers differ: names may mean something else after a pass. In the
// order of `before`.
std::vector<ValuePair> PairValues(const ProgramRun& before, const ProgramRun& after);

}  // namespace assay
