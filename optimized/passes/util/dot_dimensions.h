// The dimensions of one side of a dot, by what the dot does with them.
#pragma once

#include "absl/algorithm/container.h"
#include "spec/ir/instruction.h"

namespace assay {

struct DotDimensions {
  DimVector batch, free, summed;

  static DotDimensions Of(const Instruction& dot, int64_t side) {
    const Attributes& attributes = dot.attributes();
    const auto batch = attributes.Integers(side == 0 ? Attr::kLhsBatchDims : Attr::kRhsBatchDims);
    const auto summed =
        attributes.Integers(side == 0 ? Attr::kLhsContractingDims : Attr::kRhsContractingDims);
    DotDimensions dimensions;
    dimensions.batch.assign(batch.begin(), batch.end());
    dimensions.summed.assign(summed.begin(), summed.end());
    for (int64_t d = 0; d < dot.operand(side)->shape().rank(); ++d)
      if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(summed, d))
        dimensions.free.push_back(d);
    return dimensions;
  }
};

}  // namespace assay
