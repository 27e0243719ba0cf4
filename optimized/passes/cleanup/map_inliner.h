// Maps whose function consists of element-wise ops become these ops on whole arrays: map({X, Y},
// add) becomes add(X, Y). Document: HLO passes, "Map inliner".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class MapInliner : public Pass {
 public:
  std::string_view name() const override { return "map-inliner"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
