// A fusion that several fusions read moves into all of them, where it computes little for the bytes
// that it moves, and the kernels that are left move no more bytes than before. All readers or none:
// only then does its own kernel go. Document: optimization passes, Fusion merger.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class FusionMerger : public Pass {
 public:
  // Fusions with as many operations per byte, or more, stay as they are.
  static constexpr double kOperationsPerByte = 1.0;

  std::string_view name() const override { return "fusion-merger"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
