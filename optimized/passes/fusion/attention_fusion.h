// A dot, what makes weights of its rows (as softmax does), and a second dot by these weights become
// one kernel, where they are so small that launches count more than products. For targets whose
// kernels have a row at hand (AttentionOf); it comes behind row-fusion.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class AttentionFusion : public Pass {
 public:
  // The longest row that fits into shared memory with its neighbours, and the most products.
  static constexpr int64_t kLongestRow = 512, kMostProducts = int64_t{1} << 24;

  std::string_view name() const override { return "attention-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
