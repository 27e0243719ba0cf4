// Notes in a loop's backend_config how often it runs, where constants tell it. Estimates of work go
// by the note, and so does what schedules loops against each other. Document: HLO passes, "While
// loop trip count annotator".
#pragma once

#include "optimized/passes/pass.h"

namespace assay {

class TripCountAnnotator : public Pass {
 public:
  std::string_view name() const override { return "while-loop-trip-count-annotator"; }
  absl::StatusOr<bool> Run(Module& module, PassContext& context) override;
};

}  // namespace assay
