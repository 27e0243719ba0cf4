// The compiler's passes in the order of running: one list for the required passes of the backend,
// the default pipeline, and the passes on request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace assay {

enum class Stage : uint8_t {
  kLegalize,  // required, first: what there is no code for becomes other ops
  kOptimize,  // optional: what Optimize runs
  kFlatten,   // required, last: the form that buffers are planned for
};

struct PipelineStep {
  std::string_view pass;  // a name of the registry
  Stage stage;
  bool on_request = false;  // only with every pass
};

// Everything, first to last; a pass that runs twice is there twice.
absl::Span<const PipelineStep> PipelineSteps();

// The passes of a stage, without those on request.
std::vector<std::string_view> PassesOf(Stage stage);
// The passes of kOptimize, without and with those on request. The latter is for campaigns: each
// finds work where it stands, and what it makes has code on CPUs. domain-verifier is in neither: it
// refuses programs that have a meaning.
std::vector<std::string_view> DefaultPasses();
std::vector<std::string_view> EveryPass();

}  // namespace assay
