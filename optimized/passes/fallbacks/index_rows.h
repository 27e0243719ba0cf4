// The index vectors of gather and scatter as the rows of a matrix, for loops over them. Document:
// operation semantics chapter 9, Gather and Scatter.
#pragma once

#include "optimized/analysis/walks/index_numbers.h"
#include "spec/ir/module.h"

namespace assay {

struct IndexRows {
  Instruction* matrix;  // a row per index vector, in row-major order
  Int64List map;    // column -> dimension of the operand; those of batching dimensions come last
  DimVector batch;  // the sizes of the dimensions that became rows
};

// `wide`: the matrix is of s64, in which large unsigned indices stay large; so it is anyway where
// there are batching dimensions, whose columns are added.
IndexRows AddIndexRows(Instruction* indices, const IndexNumbers& numbers, bool wide);

}  // namespace assay
