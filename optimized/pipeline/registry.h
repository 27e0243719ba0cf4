// All passes by name: what `assay opt --passes` and the backends' options choose from.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "optimized/passes/pass.h"

namespace assay {

// Who runs a pass without being asked.
enum class RunsIn : uint8_t {
  kPipeline,   // Optimize, in the order of DefaultPasses
  kCompiler,   // the CPU backend, before everything else: what it has no code for
  kOnRequest,  // nobody: it does not pay on CPUs, or serves a purpose of its own
};
std::string_view Name(RunsIn where);

struct PassInfo {
  std::string_view name;
  RunsIn runs_in;
  std::string_view meaning;  // one line
  std::unique_ptr<Pass> (*make)();
};

absl::Span<const PassInfo> AllPasses();           // by name
const PassInfo* FindPass(std::string_view name);  // nullptr: there is none

// In the order of running; a pass that runs twice is there twice.
std::vector<std::string_view> DefaultPasses();
// The same with every pass on request at a place where it finds work, and what it makes has code on
// CPUs: for campaigns. Without domain-verifier, which refuses programs that have a meaning.
std::vector<std::string_view> EveryPass();

}  // namespace assay
