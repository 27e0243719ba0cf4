// Library calls become the ops that they stand for, where the target has no library or the gate
// refuses it: what a call falls back to. Document: HLO passes, GPU group (the rewriters,
// backwards).
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class LibraryCallInliner : public Pass {
 public:
  std::string_view name() const override { return "library-call-inliner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

// The value of `at`, of its shape, by ops in its computation. `at` reads as `call`. Workspaces are
// zeros.
struct LibraryCall;
Instruction* InlineLibraryCall(Instruction* at, const LibraryCall& call);

}  // namespace assay
