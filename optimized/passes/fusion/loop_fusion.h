// Fuses producers of elementwise and data movement ops into their consumers, so that one loop
// computes what several would have, without the arrays between them. A reduce may be the root of a
// fusion. An expensive op is computed once per element: never copied into several fusions, never
// repeated behind a broadcast. dot, loops, branches and calls stay outside.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class LoopFusion : public Pass {
 public:
  std::string_view name() const override { return "loop-fusion"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
