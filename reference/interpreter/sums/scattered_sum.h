// A number that is added to the sums of a scatter may be added to what the scatter starts from
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

// True of additions, scatters that add and moves: a sum that an addition may be pulled into may be
// among their results or operands.
bool MayMeetScatteredSum(const Instruction& instruction);
// Applies such an op: notes the sum that it makes or passes on, and lets the elements of an
// addition also be what it gives when it is pulled into the scatter.
absl::StatusOr<Value> ApplyToScatteredSum(Interpreter& interpreter, const Evaluation& how,
                                          const OpContext& op);

}  // namespace assay::reference
