// The list of passes, from the first to the last.
#include "optimized/pipeline/stages.h"

namespace assay {
namespace {

using enum Stage;

constexpr bool kOnRequest = true;

constexpr PipelineStep kSteps[] = {
    {"descheduler", kLegalize},
    {"collective-numbering", kLegalize},
    {"async-expander", kLegalize},
    {"dynamic-index-splitter", kLegalize},
    {"form-expander", kLegalize},
    {"get-dimension-size-rewriter", kLegalize},
    {"conditional-to-select", kLegalize},
    {"batch-norm-expander", kLegalize},
    {"ragged-dot-expander", kLegalize},
    {"scaled-dot-expander", kLegalize},
    {"scan-expander", kLegalize},
    {"rng-expander", kLegalize},
    {"top-k-expander", kLegalize},
    {"fusion-to-call", kLegalize},

    {"dynamic-index-splitter", kOptimize},
    {"dce", kOptimize},
    {"call-inliner", kOptimize},
    {"zero-sized-hlo-elimination", kOptimize},
    {"map-inliner", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"constant-folding", kOptimize},
    {"algebraic-simplifier", kOptimize},
    {"conditional-simplifier", kOptimize},
    {"while-simplifier", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"constant-folding", kOptimize},
    {"algebraic-simplifier", kOptimize},
    {"cse", kOptimize},
    {"while-invariant-code-motion", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"sort-simplifier", kOptimize},
    {"dce", kOptimize},
    {"while-loop-trip-count-annotator", kOptimize},

    {"indexed-array-analysis", kOptimize, kOnRequest},
    {"domain-isolator", kOptimize, kOnRequest},
    {"domain-remover", kOptimize, kOnRequest},
    {"all-reduce-cross-combiner", kOptimize, kOnRequest},
    {"convolution-canonicalization", kOptimize, kOnRequest},
    {"bfloat16-normalization", kOptimize, kOnRequest},
    {"reduction-layout-normalizer", kOptimize, kOnRequest},
    {"reduction-degenerate-dim-remover", kOptimize, kOnRequest},
    {"reduction-dimension-grouper", kOptimize, kOnRequest},
    {"tree-reduction-rewriter", kOptimize, kOnRequest},
    {"horizontal-fusion", kOptimize, kOnRequest},
    // There is no code for fusions of several results: they are taken apart again.
    {"defuser", kOptimize, kOnRequest},
    {"tuple-simplifier", kOptimize, kOnRequest},
    {"dce", kOptimize, kOnRequest},

    // Fusion comes after the passes that work on single instructions, for it hides them.
    {"loop-fusion", kOptimize},
    {"dce", kOptimize},
    {"multi-output-fusion", kOptimize},
    {"dce", kOptimize},
    {"optimize-input-output-buffer-alias", kOptimize, kOnRequest},
    {"copy-insertion", kOptimize, kOnRequest},
    {"memory-scheduler", kOptimize},

    {"call-graph-flattener", kFlatten},
};

std::vector<std::string_view> Select(Stage stage, bool with_on_request) {
  std::vector<std::string_view> passes;
  for (const PipelineStep& step : kSteps) {
    if (step.stage == stage && (with_on_request || !step.on_request)) passes.push_back(step.pass);
  }
  return passes;
}

}  // namespace

absl::Span<const PipelineStep> PipelineSteps() { return kSteps; }
std::vector<std::string_view> PassesOf(Stage stage) { return Select(stage, false); }
std::vector<std::string_view> DefaultPasses() { return Select(kOptimize, false); }
std::vector<std::string_view> EveryPass() { return Select(kOptimize, true); }

}  // namespace assay
