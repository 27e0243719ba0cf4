// What is added to the sums of a scatter may be added to what the scatter starts from
// (ClauseId::kScatterStarts): then every update is rounded at the magnitude of what was there
// before. How many updates reach an element is known where the scatter runs, so that form is
// evaluated beside the one of the text.
#pragma once

#include "reference/interpreter/interpreter.h"

namespace assay::reference {

// The operands of a scatter that adds, which travel with its result as long as nothing but moves
// stands between.
struct ScatteredSum {
  const Instruction* scatter = nullptr;
  Value operand, indices, updates;
  int depth = 1;  // scatters that were started from one another
};

// True if `op` makes a sum that an addition may be pulled into, or passes one on.
bool MakesScatteredSum(const OpContext& op);
// Notes that sum in the value of such an op.
void NoteScatteredSum(const OpContext& op, Value& value);

// True if `op` is an addition that may be pulled into a scatter.
bool AddsToScatteredSum(const OpContext& op);
// Lets the elements of the value of such an op also be what that form gives.
absl::Status HullWithPulledAddition(Interpreter& interpreter, const OpContext& op, Value& value);

}  // namespace assay::reference
