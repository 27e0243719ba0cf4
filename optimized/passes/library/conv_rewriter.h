// Convolutions become calls of cuDNN. Documents: HLO passes, "GPU conv rewriter", "GPU conv padding
// legalization", "cuDNN fused conv rewriter", "cuDNN pad for convolutions".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

// Forward convolutions and both gradients, each with a workspace of no bytes. A form that is a
// gradient and a forward convolution at once is taken as the gradient of the filter where its
// window is larger than its result, else as forward.
class GpuConvRewriter : public Pass {
 public:
  std::string_view name() const override { return "gpu-conv-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// Padding that differs between the two ends of a dimension, or cuts, becomes a pad of the input, or
// of the gradient of the input.
class GpuConvPaddingLegalization : public Pass {
 public:
  std::string_view name() const override { return "gpu-conv-padding-legalization"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// A factor, a side input, a bias and relu behind a forward convolution become part of its call, and
// so do the conversions of integer convolutions.
class CudnnFusedConvRewriter : public Pass {
 public:
  std::string_view name() const override { return "cudnn-fused-conv-rewriter"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// Features are filled up with zeros to what tensor cores, and convolutions of bytes, take.
class CudnnPadForConvolutions : public Pass {
 public:
  std::string_view name() const override { return "cudnn-pad-for-convolutions"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
