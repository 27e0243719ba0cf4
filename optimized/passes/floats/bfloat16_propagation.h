// Values of F32 that all their readers round to BF16 are rounded where they are made: what lies
// between, which only moves them, moves half the bytes. Every number is rounded as often as before,
// so results keep their bits. The state of loops and the parameters of fusions change their types
// where their computations have no other caller; no other signature does. It may leave what a
// backend does not take: bfloat16-normalization comes after it. Document: optimization passes,
// bfloat16 propagation.
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class BFloat16Propagation : public Pass {
 public:
  std::string_view name() const override { return "bfloat16-propagation"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
