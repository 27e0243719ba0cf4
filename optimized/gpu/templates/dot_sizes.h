// The dimensions of a dot by what they come from.
#pragma once

#include <cstdint>

#include "spec/ir/module.h"

namespace assay::gpu {

struct DotSizes {
  DimVector batch, rows, columns;  // of the result, which has them in this order
  DimVector depth;                 // contracted
  int64_t batches = 1, row_count = 1, column_count = 1, depth_count = 1;

  static DotSizes Of(const Instruction& dot);
};

}  // namespace assay::gpu
