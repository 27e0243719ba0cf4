// Reads the attributes of gather and scatter.
#include "optimized/analysis/walks/index_numbers.h"

#include "absl/algorithm/container.h"

namespace assay {

IndexNumbers IndexNumbers::OfGather(const Instruction& gather) {
  const Attributes& a = gather.attributes();
  return {a.Integers(Attr::kOffsetDims),          a.Integers(Attr::kCollapsedSliceDims),
          a.Integers(Attr::kOperandBatchingDims), a.Integers(Attr::kStartIndicesBatchingDims),
          a.Integers(Attr::kStartIndexMap),       a.Integer(Attr::kIndexVectorDim)};
}

IndexNumbers IndexNumbers::OfScatter(const Instruction& scatter) {
  const Attributes& a = scatter.attributes();
  return {
      a.Integers(Attr::kUpdateWindowDims),         a.Integers(Attr::kInsertedWindowDims),
      a.Integers(Attr::kInputBatchingDims),        a.Integers(Attr::kScatterIndicesBatchingDims),
      a.Integers(Attr::kScatterDimsToOperandDims), a.Integer(Attr::kIndexVectorDim)};
}

std::vector<int64_t> IndexNumbers::WindowDimOf(int64_t rank, int64_t operand_rank) const {
  std::vector<int64_t> present;
  for (int64_t d = 0; d < operand_rank; ++d) {
    if (!absl::c_linear_search(absent_dims, d) && !absl::c_linear_search(batching_dims, d)) {
      present.push_back(d);
    }
  }
  std::vector<int64_t> result(rank, -1);
  for (size_t k = 0; k < window_dims.size(); ++k) result[window_dims[k]] = present[k];
  return result;
}

}  // namespace assay
