// Sorts a dot's dimensions.
#include "optimized/gpu/templates/dot_sizes.h"

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/contractions.h"

namespace assay::gpu {

DotSizes DotSizes::Of(const Instruction& dot) {
  DotSizes sizes;
  const DotDims dims = DotDims::Of(dot);
  for (int64_t d = 0; d < dot.shape().rank(); ++d) {
    const bool left = absl::c_linear_search(dims.lhs, d);
    const bool right = absl::c_linear_search(dims.rhs, d);
    const int64_t size = dot.shape().dimension(d);
    (left && right ? sizes.batch : left ? sizes.rows : sizes.columns).push_back(size);
    (left && right ? sizes.batches : left ? sizes.row_count : sizes.column_count) *= size;
  }
  for (int64_t d : dot.attributes().Integers(Attr::kLhsContractingDims)) {
    sizes.depth.push_back(dot.operand(0)->shape().dimension(d));
    sizes.depth_count *= sizes.depth.back();
  }
  return sizes;
}

}  // namespace assay::gpu
