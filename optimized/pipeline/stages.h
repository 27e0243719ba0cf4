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
#include "spec/ir/module.h"

namespace assay {

enum class Stage : uint8_t {
  kLegalize,  // required, first: what there is no code for becomes other ops
  kOptimize,  // optional: what Optimize runs
  kFlatten,   // required, last: the form that buffers are planned for
};

// A step runs on modules for which this holds.
struct StepCondition {
  std::string_view meaning;
  bool (*holds)(const Module& module);
};

struct PipelineStep {
  std::string_view pass;  // a name of the registry; of a fixed point, its own
  Stage stage;
  bool on_request = false;  // only with every pass
  // Not empty: this is a fixed point, whose steps run in order, again and again, until none changes
  // the module, at most so many times. A pass whose module has not changed since it ran last is
  // skipped.
  absl::Span<const PipelineStep> inner = {};
  int most_trips = 1;
  const StepCondition* when = nullptr;

  bool IsFixedPoint() const { return !inner.empty(); }
};

// Everything, first to last; a pass that runs twice is there twice.
absl::Span<const PipelineStep> PipelineSteps();

// The passes of a stage, without those on request; those of a fixed point are there once.
std::vector<std::string_view> PassesOf(Stage stage);
// The passes of kOptimize, without and with those on request. The latter is for campaigns: each
// finds work where it stands, and what it makes has code on CPUs. domain-verifier is in neither: it
// refuses programs that have a meaning.
std::vector<std::string_view> DefaultPasses();
std::vector<std::string_view> EveryPass();

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
