// Every call of a product or a convolution is told an algorithm, by a model of what each costs: the
// same one on every run. Documents: HLO passes, "GEMM algorithm picker", "GPU conv algorithm
// picker".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class GemmAlgorithmPicker : public Pass {
 public:
  std::string_view name() const override { return "gemm-algorithm-picker"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// The workspace (y, u8[0]) becomes the one that the algorithm needs, (y, u8[n]).
class GpuConvAlgorithmPicker : public Pass {
 public:
  std::string_view name() const override { return "gpu-conv-algorithm-picker"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// Operands of library calls that are constants, or handed to a call twice, become copies: arrays in
// memory that belong to the call. Behind the generic copies. Document: HLO passes, "GPU copy
// insertion".
class GpuCopyInsertion : public Pass {
 public:
  std::string_view name() const override { return "gpu-copy-insertion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
