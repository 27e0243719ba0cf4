// Computations that work row by row, as softmax and norms do: elements of rows, and reduces along
// rows whose results are spread over the rows that they came from.
#pragma once

#include <optional>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

// The array whose rows a fused computation, or an instruction, folds: the operand of a reduce along
// its innermost dimension, or, where there is none, the result.
const Shape& RowsOf(const Computation& fused);
const Shape& RowsOf(const Instruction& instruction);

// The reduces of a fused computation, operands before users, if a kernel that has a row at hand can
// compute it: every reduce folds the innermost dimension of arrays of the rows' dimensions by a
// recognised combiner, and all that reads a result at another place than the row's is a broadcast
// over the row. Results, of which there may be several, are rows or one value per row. Empty if
// not, or if there is none.
std::vector<const Instruction*> FoldsOfRows(const Computation& fused);

// Returns them in groups. Those of a group read none of each other, but some of the groups before.
std::vector<std::vector<const Instruction*>> FoldsByTurn(const Computation& fused);

// Attention, row by row: a dot whose rows are made into weights by reduces along them, and a second
// dot that sums another operand's lines by these weights.
struct RowAttention {
  const Instruction* scores = nullptr;   // the first dot: [..., length]
  const Instruction* weights = nullptr;  // of the same dimensions
  const Instruction* sums = nullptr;     // the second dot
  int64_t operand = 0;                   // of the second dot, that the weights are
};
// If the fused computation is that and element-wise ops in front and behind.
std::optional<RowAttention> AttentionOf(const Computation& fused);

}  // namespace assay
