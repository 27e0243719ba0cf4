// The HLO passes in their order, and a compile-only backend that stops after a given number of
// decisions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "optimized/gates.h"
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
  // Called after each pass.
  std::function<void(std::string_view pass, bool changed, const Module& module)> observer;
};

// Optimizes `module`, which must verify, in place. A schedule is dropped; instructions end in
// post-order. Errors: an unknown `stop_after_pass` (invalid argument), a module that a pass broke
// (internal; only with verify_each).
absl::Status Optimize(Module& module, Gates& gates, const PipelineOptions& options = {});

// In the order of running; a pass that runs twice is there twice.
std::vector<std::string> PassNames();

// Family "passes": "passes" runs all, "passes:K" stops at decision K (a smaller
// CompileOptions::decision_limit wins), options profile=strict|xla and fusion=on|off. Compiles
// only: the result is Executable::OptimizedModule, the sequence decisions().
void RegisterPasses(BackendRegistry& registry);

}  // namespace assay
