// Computations that work row by row, as softmax and norms do: elements of rows, and reduces along
// rows whose results are spread over the rows that they came from.
#pragma once

#include <vector>

#include "spec/ir/module.h"

namespace assay {

// The reduces of a fused computation, operands before users, if a kernel that has a row at hand can
// compute it: every reduce folds the innermost dimension of arrays of the root's dimensions by a
// recognised combiner, and all that reads a result at another place than the row's is a broadcast
// over the row. Empty if not, or if there is none.
std::vector<const Instruction*> FoldsOfRows(const Computation& fused);

}  // namespace assay
