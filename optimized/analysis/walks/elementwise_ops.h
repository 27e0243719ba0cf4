// Facts about ops that work element by element.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// True if element i of the result depends on element i of each operand alone (the row of the op
// says so).
bool IsElementwise(Opcode opcode);
// True when an operand or the result is complex.
bool InvolvesComplex(const Instruction& instruction);
// True if all of the computation is element-wise and real: then it may run on vectors as it is.
bool IsElementwiseComputation(const Computation& computation);
// True when operand and result of a bitcast hold their elements in the same order, row-major.
bool BitcastKeepsOrder(const Instruction& bitcast);
// True if a bitcast-convert makes one element of one.
bool BitcastConvertKeepsWidth(const Instruction& convert);

}  // namespace assay
