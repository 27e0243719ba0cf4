// Batch norms of f32 become calls of cuDNN, with epsilon and feature_index as operands. What cuDNN
// gives and takes in the place of a variance is 1/sqrt(variance + epsilon). Document: HLO passes,
// "cuDNN batchnorm rewriter".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class CudnnBatchNormRewriter : public Pass {
 public:
  std::string_view name() const override { return "cudnn-batchnorm-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// Factors of Cholesky become calls of cuSOLVER, which leave the other triangle alone and tell by an
// info where a matrix is not positive definite. Document: HLO passes, "cuSolver rewriter".
class CusolverRewriter : public Pass {
 public:
  std::string_view name() const override { return "cusolver-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
