// The list of passes, from the first to the last.
#include "optimized/pipeline/stages.h"

#include <algorithm>

#include "spec/base/strings.h"

namespace assay {
namespace {

using enum Stage;
using enum OrderRule::Kind;

constexpr bool kOnRequest = true;

// Trips of a fixed point: each pass is written so that one run does nearly all there is to do.
constexpr int kMostTrips = 4;
// A pass that halves a dimension at the least is done in so many trips.
constexpr int kMostHalvings = 63;

constexpr StepCondition kSeveralDevices = {"replicas and partitions", [](const Module& module) {
                                             return module.config().replica_count > 1 &&
                                                    module.config().num_partitions > 1;
                                           }};

constexpr PipelineStep kSimplification[] = {
    {"tuple-simplifier", kOptimize},
    {"constant-folding", kOptimize},
    {"algebraic-simplifier", kOptimize},
    {"conditional-simplifier", kOptimize},
    {"hlo-module-dce", kOptimize},
    {"while-simplifier", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"constant-folding", kOptimize},
    {"algebraic-simplifier", kOptimize},
    {"cse", kOptimize},
    {"while-invariant-code-motion", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"sort-simplifier", kOptimize},
    {"dce", kOptimize},
};

// A sum in two steps is a shorter sum in two steps, and so on: pairwise summation.
constexpr PipelineStep kPairwiseSums[] = {
    {"tree-reduction-rewriter", kOptimize, kOnRequest},
};

// Each run takes one dimension out of the others.
constexpr PipelineStep kSplitReduces[] = {
    {"reduction-splitter", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu},
};

constexpr PipelineStep kSteps[] = {
    {"descheduler", kLegalize},
    {"collective-numbering", kLegalize},
    {"async-expander", kLegalize},
    {"dynamic-index-splitter", kLegalize},
    {"library-call-inliner", kLegalize},
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
    {"simplification", kOptimize, false, kSimplification, kMostTrips},
    {"while-loop-trip-count-annotator", kOptimize},

    {"control-dep-remover", kOptimize, kOnRequest},
    {"bfloat16-mixed-precision-removal", kOptimize, kOnRequest},
    {"hlo-subcomputation-unification", kOptimize, kOnRequest},
    {"conditional-canonicalizer", kOptimize, kOnRequest},
    {"stable-sort-expander", kOptimize, kOnRequest},
    {"all-reduce-simplifier", kOptimize, kOnRequest},
    {"batch-dot-simplification", kOptimize, kOnRequest},
    {"dot-decomposer", kOptimize, kOnRequest},
    {"convolution-group-converter", kOptimize, kOnRequest},
    {"indexed-array-analysis", kOptimize, kOnRequest},
    // Calls of libraries are made, take in what follows, and are told how to run; those that no
    // library serves become ops again.
    {"cublas-gemm-pad-for-tensor-cores", kOptimize, kOnRequest},
    {"gemm-rewriter", kOptimize, kOnRequest},
    {"gpu-conv-rewriter", kOptimize, kOnRequest},
    {"cudnn-fused-conv-rewriter", kOptimize, kOnRequest},
    {"gpu-conv-padding-legalization", kOptimize, kOnRequest},
    {"cudnn-pad-for-convolutions", kOptimize, kOnRequest},
    {"cudnn-batchnorm-rewriter", kOptimize, kOnRequest},
    {"cusolver-rewriter", kOptimize, kOnRequest},
    {"gemm-algorithm-picker", kOptimize, kOnRequest},
    {"gpu-conv-algorithm-picker", kOptimize, kOnRequest},
    {"library-call-inliner", kOptimize, kOnRequest},
    {"tuple-simplifier", kOptimize, kOnRequest},
    {"logistic-expander", kOptimize, kOnRequest},
    {"cholesky-expander", kOptimize, kOnRequest},
    {"triangular-solve-expander", kOptimize, kOnRequest},
    {"gather-expander", kOptimize, kOnRequest},
    {"convolution-4d-expander", kOptimize, kOnRequest},
    {"reshape-mover", kOptimize, kOnRequest},
    {"domain-isolator", kOptimize, kOnRequest},
    {"domain-remover", kOptimize, kOnRequest},
    {"all-reduce-cross-combiner", kOptimize, kOnRequest, {}, 1, &kSeveralDevices},
    {"all-reduce-combiner", kOptimize, kOnRequest},
    {"convolution-canonicalization", kOptimize, kOnRequest},
    {"bfloat16-normalization", kOptimize, kOnRequest},
    {"hlo-element-type-converter", kOptimize, kOnRequest},
    {"reduction-layout-normalizer", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu},
    {"reduction-degenerate-dim-remover", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu},
    {"reduction-dimension-grouper", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu},
    {"split-reduces", kOptimize, kOnRequest, kSplitReduces, kMostTrips, nullptr, kOnGpu},
    {"gpu-tree-reduction-rewriter", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu},
    {"pairwise-sums", kOptimize, kOnRequest, kPairwiseSums, kMostHalvings},
    {"horizontal-fusion", kOptimize, kOnRequest},
    // There is no code for fusions of several results: they are taken apart again.
    {"defuser", kOptimize, kOnRequest},
    {"tuple-simplifier", kOptimize, kOnRequest},
    {"dce", kOptimize, kOnRequest},

    // Fusion comes after the passes that work on single instructions, for it hides them.
    {"contraction-fusion", kOptimize},
    {"loop-fusion", kOptimize},
    {"dce", kOptimize},
    {"fusion-merger", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu},
    {"row-fusion", kOptimize, kOnRequest, {}, 1, nullptr, kOnGpu, kOnGpu},
    {"multi-output-fusion", kOptimize},
    {"dce", kOptimize},
    {"variadic-op-splitter", kOptimize, kOnRequest},
    {"optimize-input-output-buffer-alias", kOptimize, kOnRequest},
    {"alias-passthrough-params", kOptimize, kOnRequest},
    {"copy-insertion", kOptimize, kOnRequest},
    {"gpu-copy-insertion", kOptimize, kOnRequest},
    {"gpu-sanitize-constant-names", kOptimize, kOnRequest},
    {"memory-scheduler", kOptimize},
    {"root-instruction-sinker", kOptimize, kOnRequest},

    {"call-graph-flattener", kFlatten},
};

constexpr OrderRule kOrder[] = {
    {kBefore, "reduction-dimension-grouper", "gpu-tree-reduction-rewriter",
     "one dimension is long where several were"},
    {kBefore, "loop-fusion", "fusion-merger", "it merges what was fused"},
    {kBefore, "reduction-dimension-grouper", "reduction-splitter",
     "dimensions apart from each other are not neighbours by then"},
    {kBefore, "alias-passthrough-params", "copy-insertion", "copies are made by the aliases"},
    {kOnce, "batch-dot-simplification", "dot-decomposer",
     "what the one leaves is a form that the other makes"},
    {kBefore, "dot-decomposer", "cublas-gemm-pad-for-tensor-cores",
     "it pads dots of one free and one contracting dimension"},
    {kBefore, "cublas-gemm-pad-for-tensor-cores", "gemm-rewriter", "it pads no calls"},
    {kBefore, "gpu-conv-rewriter", "cudnn-fused-conv-rewriter", "it adds to calls of convolutions"},
    {kBefore, "gpu-conv-rewriter", "gpu-conv-padding-legalization", "it changes calls"},
    {kBefore, "cudnn-pad-for-convolutions", "gpu-conv-algorithm-picker", "sizes change no more"},
    {kBefore, "gemm-rewriter", "gemm-algorithm-picker", "it tells calls"},
    {kBefore, "descheduler", "memory-scheduler", "a schedule that was chosen stays"},
    {kFollowed, "while-simplifier", "tuple-simplifier", "state that was flattened is tuples yet"},
    {kFollowed, "hlo-module-dce", "while-simplifier", "dead elements are dropped there"},
    {kBefore, "while-simplifier", "while-loop-trip-count-annotator", "loops change no more"},
    {kBefore, "while-invariant-code-motion", "while-loop-trip-count-annotator",
     "loops change no more"},
    {kBefore, "constant-folding", "while-loop-trip-count-annotator",
     "bounds of loops are constants by then"},
    {kBefore, "algebraic-simplifier", "while-loop-trip-count-annotator",
     "bounds of loops are simple by then"},
    {kBefore, "while-loop-trip-count-annotator", "loop-fusion",
     "a counter in a fusion is not recognised"},
    {kBefore, "while-loop-trip-count-annotator", "multi-output-fusion",
     "a counter in a fusion is not recognised"},
    {kBefore, "reduction-layout-normalizer", "reduction-dimension-grouper",
     "dimensions are neighbours in memory by then"},
    {kBefore, "contraction-fusion", "loop-fusion",
     "what a contraction reads and writes as it lies is in no loop yet"},
    {kBefore, "loop-fusion", "memory-scheduler", "what is fused has no place in the order"},
    {kBefore, "cse", "memory-scheduler", "merged values live longer"},
};

// In the order of running; a fixed point is written out once, or stays as it is.
void Append(absl::Span<const PipelineStep> steps, Stage stage, std::string_view target,
            bool with_on_request, std::vector<std::string_view>& passes) {
  for (const PipelineStep& step : steps) {
    if (step.stage != stage || !RunsOn(step, target, with_on_request)) continue;
    if (step.IsFixedPoint()) {
      Append(step.inner, stage, target, with_on_request, passes);
    } else {
      passes.push_back(step.pass);
    }
  }
}

std::vector<std::string_view> Select(Stage stage, std::string_view target, bool with_on_request) {
  std::vector<std::string_view> passes;
  Append(kSteps, stage, target, with_on_request, passes);
  return passes;
}

void List(absl::Span<const PipelineStep> steps, std::string_view target, int depth,
          std::vector<ListedStep>& listed) {
  for (const PipelineStep& step : steps) {
    if (!RunsOn(step, target, /*on_request=*/false)) continue;
    const std::string_view condition = step.when == nullptr ? "" : step.when->meaning;
    listed.push_back({depth, step.pass, step.stage, step.IsFixedPoint(), condition});
    List(step.inner, target, depth + 1, listed);
  }
}

// The places of a pass in a list: of its first and last mention, and how many there are.
struct Places {
  int64_t first = -1, last = -1, count = 0;
};
Places PlacesOf(absl::Span<const std::string_view> passes, std::string_view pass) {
  Places places;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i] != pass) continue;
    places.last = static_cast<int64_t>(i);
    if (places.count++ == 0) places.first = places.last;
  }
  return places;
}

bool Keeps(const OrderRule& rule, const Places& first, const Places& second) {
  switch (rule.kind) {
    case kBefore:
      return first.last < second.first;
    case kFollowed:
      return first.last < second.last;
    case kOnce:
      return first.count == 1 && first.last < second.first;
  }
  return false;
}

absl::Status CheckFixedPoints(absl::Span<const PipelineStep> steps) {
  for (const PipelineStep& step : steps) {
    if (step.when != nullptr && (step.when->meaning.empty() || step.when->holds == nullptr))
      return absl::InternalError(StrCat("step ", step.pass, " has a condition without a meaning"));
    if (!step.IsFixedPoint()) continue;
    if (step.most_trips < 2)
      return absl::InternalError(StrCat("fixed point ", step.pass, " never runs again"));
    if (absl::Status status = CheckFixedPoints(step.inner); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const PipelineStep> PipelineSteps() { return kSteps; }
bool RunsOn(const PipelineStep& step, std::string_view target, bool on_request) {
  if (!step.only_on.empty() && step.only_on != target) return false;
  return !step.on_request || on_request || step.default_on == target;
}
std::vector<ListedStep> ListPipeline(std::string_view target) {
  std::vector<ListedStep> listed;
  List(kSteps, target, 0, listed);
  return listed;
}
std::string_view Name(Stage stage) {
  return stage == kLegalize ? "legalize" : stage == kOptimize ? "optimize" : "flatten";
}
std::vector<std::string_view> PassesOf(Stage stage) { return Select(stage, kOnCpu, false); }
std::vector<std::string_view> DefaultPasses(std::string_view target) {
  return Select(kOptimize, target, false);
}
std::vector<std::string_view> EveryPass(std::string_view target) {
  return Select(kOptimize, target, true);
}

absl::Span<const OrderRule> OrderRules() { return kOrder; }

absl::Status CheckOrder(absl::Span<const std::string_view> passes) {
  for (const OrderRule& rule : kOrder) {
    const Places first = PlacesOf(passes, rule.first), second = PlacesOf(passes, rule.second);
    if (first.count == 0 || second.count == 0 || Keeps(rule, first, second)) continue;
    const std::string_view how = rule.kind == kBefore     ? " must stand before "
                                 : rule.kind == kFollowed ? " must be followed by "
                                                          : " must stand once, before ";
    return absl::InvalidArgumentError(
        StrCat("pass ", rule.first, how, rule.second, ": ", rule.why));
  }
  return absl::OkStatus();
}

absl::Status CheckPipelineSteps() {
  static const auto& status = *new absl::Status([] {
    if (absl::Status wrong = CheckFixedPoints(kSteps); !wrong.ok()) return wrong;
    std::vector<std::string_view> all;
    for (std::string_view target : {kOnCpu, kOnGpu}) {
      all.clear();
      for (Stage stage : {kLegalize, kOptimize, kFlatten}) {
        Append(kSteps, stage, target, true, all);
      }
      if (absl::Status wrong = CheckOrder(all); !wrong.ok()) return wrong;
    }
    return absl::OkStatus();
  }());
  return status;
}

}  // namespace assay
