// All passes by name: what the options of the backends (run=, without=) choose from. Their order is
// in stages.h.
#pragma once

#include <memory>
#include <string_view>

#include "absl/types/span.h"
#include "optimized/passes/pass.h"

namespace assay {

// The pipelines that run a pass without being asked.
enum class RunsIn : uint8_t {
  kPipeline,   // Optimize, in the order of DefaultPasses
  kCompiler,   // the CPU backend, whatever its options: Stage::kLegalize and kFlatten
  kOnRequest,  // nobody: it does not pay on CPUs, or serves a purpose of its own
};
std::string_view Name(RunsIn where);

struct PassInfo {
  std::string_view name;
  RunsIn runs_in;
  std::string_view meaning;  // one line
  std::unique_ptr<Pass> (*make)();
  // True of a pass about schedules: the one that a module came with is there when it runs first.
  bool needs_schedule = false;
};

absl::Span<const PassInfo> AllPasses();           // by name
const PassInfo* FindPass(std::string_view name);  // nullptr: there is none

}  // namespace assay
