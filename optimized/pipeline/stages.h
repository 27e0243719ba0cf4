// The compiler's passes in the order of running, as data: one list for the required passes of the
// backend, the default pipeline, and the passes on request. A step is a pass, or a fixed point over
// a list of steps; it may have a condition. The rules of order that the list keeps are data, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "optimized/passes/pass.h"
#include "spec/ir/module.h"

namespace assay {

enum class Stage : uint8_t {
  kLegalize,  // required, first: what there is no code for becomes other ops
  kOptimize,  // optional: what Optimize runs
  kFlatten,   // required, last: the form that buffers are planned for
};

struct StepContext {
  const Module& module;
  std::string_view target;  // its kind
  const PassOptions& options;
};

// A step runs by itself where this holds.
struct StepCondition {
  std::string_view meaning;  // "with several devices": behind "runs"
  bool (*holds)(const StepContext& context);
};

struct PipelineStep {
  std::string_view pass;  // a name of the registry; of a fixed point, its own
  Stage stage;
  // Runs with every pass, too; `when` says why not by itself.
  bool on_request = false;
  // Not empty: this is a fixed point, whose steps run in order, again and again, until none changes
  // the module, at most so many times. A pass whose module has not changed since it ran last is
  // skipped.
  absl::Span<const PipelineStep> inner = {};
  int most_trips = 1;
  const StepCondition* when = nullptr;
  // A step on request runs by default on targets of this kind.
  std::string_view default_on = {};
  // It runs on targets of this kind alone; empty: on all.
  std::string_view only_on = {};

  bool IsFixedPoint() const { return !inner.empty(); }
};

// Everything, first to last; a pass that runs twice is there twice.
absl::Span<const PipelineStep> PipelineSteps();

// Kinds of targets, as steps name them.
inline constexpr std::string_view kOnCpu = "cpu", kOnGpu = "gpu";
// True if a step runs on targets of the kind, without or with all that runs on request.
bool RunsOn(const PipelineStep& step, std::string_view target, bool on_request);

// A line of a target's list of passes.
struct ListedStep {
  int depth = 0;  // fixed points around it
  std::string_view pass;
  Stage stage;
  bool is_fixed_point = false;
  std::string_view condition;  // empty: it always runs
};
std::vector<ListedStep> ListPipeline(std::string_view target);
std::string_view Name(Stage stage);  // "legalize"

// The passes of a stage, without those on request; those of a fixed point are there once.
std::vector<std::string_view> PassesOf(Stage stage);
// The passes of kOptimize, without and with those on request. The latter is for campaigns: each
// finds work where it stands, and what it makes has code on CPUs. domain-verifier is in neither: it
// refuses programs that have a meaning.
std::vector<std::string_view> DefaultPasses(std::string_view target = kOnCpu);
std::vector<std::string_view> EveryPass(std::string_view target = kOnCpu);

// A rule of order between two passes; a list that lacks one of them keeps it.
struct OrderRule {
  enum class Kind : uint8_t {
    kBefore,    // every `first` stands before every `second`
    kFollowed,  // a `second` stands behind the last `first`
    kOnce,      // `first` stands there once, before every `second`
  };
  Kind kind;
  std::string_view first, second;
  std::string_view why;
};
absl::Span<const OrderRule> OrderRules();
// Refuses (invalid argument) a list of passes that breaks a rule; names both passes and tells why.
absl::Status CheckOrder(absl::Span<const std::string_view> passes);
// Checks the order of all PipelineSteps, with fixed points written out once; also that each of
// these has a bound and that conditions have a meaning. Looks once in the life of the process.
absl::Status CheckPipelineSteps();

}  // namespace assay
