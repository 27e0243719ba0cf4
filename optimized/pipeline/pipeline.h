// The HLO passes in their order, and a compile-only backend that stops after a given number of
// decisions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/gates/gates.h"
#include "optimized/passes/pass.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"

namespace assay {

struct PipelineOptions {
  const Profile* profile = &Profile::Xla();
  // Stop after so many passes (negative: run all), or after the first pass of this name ("": run
  // all).
  int64_t stop_after = -1;
  std::string stop_after_pass;
  bool verify_each = false;  // an internal error names the pass that broke the module
  bool fusion = true;
  // These, in this order, instead of DefaultPasses.
  std::vector<std::string> passes;
  PassOptions pass_options;
  // Called after each pass.
  std::function<void(std::string_view pass, bool changed, const Module& module)> observer;
};

// Optimizes `module`, which must verify, in place. A schedule is dropped; instructions end in
// post-order. Errors: an unknown pass (invalid argument), a module that a pass broke
// (internal; only with verify_each).
absl::Status Optimize(Module& module, Gates& gates, const PipelineOptions& options = {});

// In the order of running; a pass that runs twice is there twice.
std::vector<std::string> PassNames();
// What a campaign over every pass runs: EveryPass of the registry, told so that they find work in
// small programs.
PipelineOptions EveryPassOptions();
// "a+b+c" as the names of passes, each of which must exist; "all" is EveryPass of the registry.
absl::StatusOr<std::vector<std::string>> ParsePassNames(std::string_view text, char separator);

// Family "passes": "passes" runs all, "passes:K" stops at decision K (a smaller
// CompileOptions::decision_limit wins), options profile=strict|xla, fusion=on|off and run=a+b+c
// (these passes alone; run=all: EveryPassOptions), with window=N, bf16=TABLE and fast_math=on for
// what they are told. Compiles only: the result is
// Executable::OptimizedModule, the sequence decisions().
void RegisterPasses(BackendRegistry& registry);

}  // namespace assay
