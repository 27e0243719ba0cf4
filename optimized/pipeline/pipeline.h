// Runs the HLO passes, and a compile-only backend that stops after a given number of decisions.
// Their order is in stages.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "optimized/gates/gates.h"
#include "optimized/passes/pass.h"
#include "optimized/pipeline/stages.h"
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
  // After each pass: an internal error names the pass that broke the module, or changed it without
  // saying so.
  bool verify_each = false;
  bool fusion = true;
  // These, in this order and once each, instead of the steps of the default pipeline; an empty list
  // is that pipeline, with the passes on request if `on_request`.
  std::vector<std::string> passes;
  bool on_request = false;
  // Passes on request that run where they stand, beside the others.
  std::vector<std::string> with;
  std::string_view target = kOnCpu;  // whose list runs
  // Passes that are left out, wherever they stand; those that are required cannot be.
  std::vector<std::string> without;
  PassOptions pass_options;
  // Called after each pass.
  std::function<void(std::string_view pass, bool changed, const Module& module)> observer;
};

// Optimizes `module`, which must verify, in place. A schedule is dropped; instructions end in
// post-order, or in the order of the schedule that the pass memory-scheduler gave the module.
// Errors: an unknown pass, a list of steps that breaks a rule of order (invalid argument), a module
// that a pass broke, a fixed point that comes back to a module it had (internal; both only with
// verify_each).
absl::Status Optimize(Module& module, Gates& gates, const PipelineOptions& options = {});

// Runs the required passes of a stage, kLegalize or kFlatten, whatever `options` leave out; only
// stop_after, verify_each, the observer and what passes are told count.
absl::Status RunRequired(Stage stage, Module& module, Gates& gates, const PipelineOptions& options);

// The names of DefaultPasses.
std::vector<std::string> PassNames();
// The passes that take from an optimized module what only its own backend can use, so that another
// one compiles it. Document: HLO passes, "Despecializer".
std::vector<std::string> DespecializerPasses();
// Options for fuzzing all passes: EveryPass, with thresholds low enough for small programs.
PipelineOptions EveryPassOptions();
// "a+b+c" as the names of passes, each of which must exist; "all" is EveryPass, "despecializer"
// DespecializerPasses.
absl::StatusOr<std::vector<std::string>> ParsePassNames(std::string_view text, char separator);
// The value of the option without=a+b; an error also if one of them is required. A number stands
// for one of the passes of the default pipeline, whatever it is: campaigns draw it.
absl::StatusOr<std::vector<std::string>> ParseWithout(std::string_view text);

// Family "passes": "passes" runs all, "passes:K" stops at decision K (a smaller
// CompileOptions::decision_limit wins), options profile=strict|xla, fusion=on|off, run=a+b+c
// (these passes alone; run=all: EveryPassOptions; run=despecializer) and without=a+b (all but
// these), with window=N, bf16=TABLE and fast_math=on for what they are told. Compiles only: the
// result is Executable::OptimizedModule, the sequence decisions().
void RegisterPasses(BackendRegistry& registry);

}  // namespace assay
