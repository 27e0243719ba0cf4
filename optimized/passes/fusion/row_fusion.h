// Kernels that reduce along rows and kernels that spread the results over the same rows become one,
// as in softmax and norms: a row is read from memory once. For targets whose kernels have a row at
// hand (FoldsOfRows).
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class RowFusion : public Pass {
 public:
  // Rows of other lengths fill no block, or do not stay at hand.
  static constexpr int64_t kShortestRow = 16, kLongestRow = 16384;

  std::string_view name() const override { return "row-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
