// Dots become calls of cuBLAS, and take in what is done to their results: alpha A B + beta C, then
// a bias along the columns, then relu. Document: HLO passes, "GEMM rewriter".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class GemmRewriter : public Pass {
 public:
  std::string_view name() const override { return "gemm-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// f16 dots (and what else tensor cores take) whose sizes are not multiples of what these take are
// padded with zeros, and the result is cut. Behind the dot decomposer: dots with one free and one
// contracting dimension on each side. Document: HLO passes, "cuBLAS GEMM pad for tensor cores".
class CublasGemmPad : public Pass {
 public:
  std::string_view name() const override { return "cublas-gemm-pad-for-tensor-cores"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
