// The list of passes, from the first to the last.
#include "optimized/pipeline/stages.h"

#include <algorithm>

#include "optimized/target/target.h"
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

bool Never(const StepContext&) { return false; }
bool Always(const StepContext&) { return true; }

bool IsForGpu(const StepContext& context) { return context.target == kOnGpu; }

// The pass asks, instruction by instruction.
constexpr StepCondition kRefused = {"where the target's own kernel is refused", Always};
constexpr StepCondition kSeveralDevices = {"with several devices", [](const StepContext& context) {
                                             const ModuleConfig& config = context.module.config();
                                             return config.replica_count * config.num_partitions >
                                                    1;
                                           }};
constexpr StepCondition kReplicasAndPartitions = {
    "with several replicas of several partitions", [](const StepContext& context) {
      const ModuleConfig& config = context.module.config();
      return config.replica_count > 1 && config.num_partitions > 1;
    }};
constexpr StepCondition kTold = {"from verbosity 2 on", [](const StepContext& context) {
                                   return context.options.verbosity >= 2;
                                 }};
constexpr StepCondition kFastMath = {
    "with fast math, where sums may be in any order",
    [](const StepContext& context) { return context.options.fast_math; }};
constexpr StepCondition kGpu = {"on GPUs", IsForGpu};
constexpr StepCondition kMemoryLimit = {"with a memory limit", [](const StepContext& context) {
                                          return context.options.memory_limit >= 0;
                                        }};
constexpr StepCondition kSeveralThreads = {"with several threads", [](const StepContext& context) {
                                             const Target* target = context.options.target;
                                             return target != nullptr &&
                                                    target->Workers(kThreads) > 1;
                                           }};

constexpr StepCondition kLibraries = {
    "with the libraries of NVIDIA, whose calls they make",
    [](const StepContext& context) { return context.options.libraries; }};

// Why a pass stays on request.
constexpr StepCondition kDespecializer = {"for the despecializer, which other backends read",
                                          Never};
constexpr StepCondition kPartitioner = {"for a partitioner, which reads domains", Never};
constexpr StepCondition kMatrices = {
    "for targets whose contractions take matrices alone; strides do as well on this one", Never};
constexpr StepCondition kRowsAndColumns = {
    "for targets that reduce rows or columns alone; the reshapes keep producers from fusing",
    Never};
constexpr StepCondition kLaunches = {"for targets where a launch is dear", Never};
constexpr StepCondition kBuffersDoIt = {"to see it in HLO; buffer assignment does it", Never};
constexpr StepCondition kNarrowFloats = {
    "for targets without arithmetic in some types of floats; this one has it in all", Never};
constexpr StepCondition kRounding = {
    "for targets whose contractions round what they read; fusion moves the bytes once here", Never};
constexpr StepCondition kNarrowReads = {
    "for targets whose contractions read BF16; here kernels convert what they pack", Never};
constexpr StepCondition kOwnLayouts = {
    "for targets whose kernels ask for an order of dimensions; those here take any", Never};
constexpr StepCondition kOutlined = {"to see fork and join in HLO; notes at the kernels do as well",
                                     Never};
constexpr StepCondition kSchedules = {"for modules that keep the schedule they came with", Never};

constexpr PipelineStep kSimplification[] = {
    {"tuple-simplifier", kOptimize},
    {"constant-folding", kOptimize},
    {"algebraic-simplifier", kOptimize},
    {"conditional-simplifier", kOptimize},
    {"conditional-canonicalizer", kOptimize},
    {"conditional-code-motion", kOptimize},
    {"hlo-module-dce", kOptimize},
    {"while-simplifier", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"constant-folding", kOptimize},
    {"batch-dot-simplification", kOptimize},
    {"reshape-mover", kOptimize},
    {"algebraic-simplifier", kOptimize},
    {"cse", kOptimize},
    {"while-invariant-code-motion", kOptimize},
    {"tuple-simplifier", kOptimize},
    {"sort-simplifier", kOptimize},
    {"topk-rewriter", kOptimize},
    {"slice-sinker", kOptimize},
    {"dce", kOptimize},
};

// A sum in two steps is a shorter sum in two steps, and so on: pairwise summation.
constexpr PipelineStep kPairwiseSums[] = {
    {"tree-reduction-rewriter", kOptimize},
};

// Each run takes one dimension out of the others.
constexpr PipelineStep kSplitReduces[] = {
    {"reduction-splitter", kOptimize, kOnRequest, {}, 1, &kRowsAndColumns, kOnGpu},
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
    {"cudnn-batchnorm-rewriter", kLegalize, false, {}, 1, &kLibraries},
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
    {"hlo-subcomputation-unification", kOptimize},
    {"zero-sized-hlo-elimination", kOptimize},

    // These write in other ops what is refused the target's own kernels; the rest of the list works
    // on what comes of it.
    {"top-k-decomposer", kOptimize, false, {}, 1, &kRefused},
    {"stable-sort-expander", kOptimize, false, {}, 1, &kRefused},
    {"cholesky-expander", kOptimize, false, {}, 1, &kRefused},
    {"triangular-solve-expander", kOptimize, false, {}, 1, &kRefused},
    {"rng-bit-generator-expander", kOptimize, false, {}, 1, &kRefused},
    {"select-and-scatter-expander", kOptimize, false, {}, 1, &kRefused},
    {"fft-expander", kOptimize, false, {}, 1, &kRefused},
    {"all-gather-decomposer", kOptimize, false, {}, 1, &kRefused},
    {"gather-expander", kOptimize, false, {}, 1, &kRefused},
    {"scatter-expander", kOptimize, false, {}, 1, &kRefused},
    {"convolution-group-converter", kOptimize, false, {}, 1, &kRefused},
    {"convolution-4d-expander", kOptimize, false, {}, 1, &kRefused},
    {"logistic-expander", kOptimize, false, {}, 1, &kRefused},

    {"map-inliner", kOptimize},
    {"simplification", kOptimize, false, kSimplification, kMostTrips},
    {"while-loop-trip-count-annotator", kOptimize},

    {"control-dep-remover", kOptimize, kOnRequest, {}, 1, &kDespecializer},
    {"bfloat16-mixed-precision-removal", kOptimize, kOnRequest, {}, 1, &kDespecializer},
    {"all-reduce-simplifier", kOptimize, false, {}, 1, &kSeveralDevices},
    {"dot-decomposer", kOptimize, kOnRequest, {}, 1, &kMatrices},
    {"indexed-array-analysis", kOptimize, false, {}, 1, &kTold},
    // Calls of libraries are made, take in what follows, and are told how to run; those that no
    // library serves become ops again.
    {"cublas-gemm-pad-for-tensor-cores", kOptimize, false, {}, 1, &kLibraries},
    {"gemm-rewriter", kOptimize, false, {}, 1, &kLibraries},
    {"gpu-conv-rewriter", kOptimize, false, {}, 1, &kLibraries},
    {"cudnn-fused-conv-rewriter", kOptimize, false, {}, 1, &kLibraries},
    {"gpu-conv-padding-legalization", kOptimize, false, {}, 1, &kLibraries},
    {"cudnn-pad-for-convolutions", kOptimize, false, {}, 1, &kLibraries},
    {"cudnn-batchnorm-rewriter", kOptimize, false, {}, 1, &kLibraries},
    {"cusolver-rewriter", kOptimize, false, {}, 1, &kLibraries},
    {"gemm-algorithm-picker", kOptimize, false, {}, 1, &kLibraries},
    {"gpu-conv-algorithm-picker", kOptimize, false, {}, 1, &kLibraries},
    {"library-call-inliner", kOptimize, false, {}, 1, &kLibraries},
    {"tuple-simplifier", kOptimize},
    {"domain-isolator", kOptimize, kOnRequest, {}, 1, &kPartitioner},
    {"sharding-propagation", kOptimize, kOnRequest, {}, 1, &kPartitioner},
    {"domain-remover", kOptimize, kOnRequest, {}, 1, &kPartitioner},
    {"all-reduce-cross-combiner", kOptimize, false, {}, 1, &kReplicasAndPartitions},
    {"all-reduce-combiner", kOptimize, false, {}, 1, &kSeveralDevices},
    {"convolution-canonicalization", kOptimize, kOnRequest, {}, 1, &kOwnLayouts},
    {"bfloat16-propagation", kOptimize, kOnRequest, {}, 1, &kRounding},
    {"bfloat16-normalization", kOptimize, kOnRequest, {}, 1, &kNarrowFloats},
    {"bfloat16-conversion-folding", kOptimize, kOnRequest, {}, 1, &kNarrowReads},
    {"hlo-element-type-converter", kOptimize, kOnRequest, {}, 1, &kNarrowFloats},
    {"reduction-layout-normalizer", kOptimize, kOnRequest, {}, 1, &kOwnLayouts, kOnGpu},
    {"reduction-degenerate-dim-remover", kOptimize, kOnRequest, {}, 1, &kRowsAndColumns, kOnGpu},
    {"reduction-dimension-grouper", kOptimize, kOnRequest, {}, 1, &kRowsAndColumns, kOnGpu},
    {"split-reduces", kOptimize, kOnRequest, kSplitReduces, kMostTrips, &kRowsAndColumns, kOnGpu},
    {"gpu-tree-reduction-rewriter", kOptimize, kOnRequest, {}, 1, &kRowsAndColumns, kOnGpu},
    {"pairwise-sums", kOptimize, false, kPairwiseSums, kMostHalvings, &kFastMath},
    {"horizontal-fusion", kOptimize, kOnRequest, {}, 1, &kLaunches},
    // There is no code for fusions of several results: they are taken apart again.
    {"defuser", kOptimize, kOnRequest, {}, 1, &kDespecializer},
    {"tuple-simplifier", kOptimize},
    {"dce", kOptimize},

    // Fusion comes after the passes that work on single instructions, for it hides them.
    {"contraction-fusion", kOptimize},
    {"loop-fusion", kOptimize},
    {"dce", kOptimize},
    {"fusion-merger", kOptimize, kOnRequest, {}, 1, &kLaunches, kOnGpu},
    {"epilogue-fusion", kOptimize, kOnRequest, {}, 1, &kLaunches, kOnGpu, kOnGpu},
    {"row-fusion", kOptimize, kOnRequest, {}, 1, &kLaunches, kOnGpu, kOnGpu},
    {"attention-fusion", kOptimize, kOnRequest, {}, 1, &kLaunches, kOnGpu, kOnGpu},
    {"multi-output-fusion", kOptimize},
    {"dce", kOptimize},
    {"memory-space-propagation", kOptimize},
    {"variadic-op-splitter", kOptimize, false, {}, 1, &kGpu},
    {"optimize-input-output-buffer-alias", kOptimize},
    {"alias-passthrough-params", kOptimize, kOnRequest, {}, 1, &kBuffersDoIt},
    {"copy-insertion", kOptimize, kOnRequest, {}, 1, &kBuffersDoIt},
    {"gpu-copy-insertion", kOptimize, kOnRequest, {}, 1, &kBuffersDoIt},
    {"gpu-sanitize-constant-names", kOptimize, false, {}, 1, &kGpu},
    {"memory-scheduler", kOptimize},
    {"hlo-rematerialization", kOptimize, false, {}, 1, &kMemoryLimit},
    {"root-instruction-sinker", kOptimize, kOnRequest, {}, 1, &kSchedules},
    {"parallel-task-assigner", kOptimize, false, {}, 1, &kSeveralThreads, {}, kOnCpu},
    {"parallel-task-outliner", kOptimize, kOnRequest, {}, 1, &kOutlined, {}, kOnCpu},

    {"call-graph-flattener", kFlatten},
};

constexpr OrderRule kOrder[] = {
    {kBefore, "reduction-dimension-grouper", "gpu-tree-reduction-rewriter",
     "one dimension is long where several were"},
    {kBefore, "loop-fusion", "fusion-merger", "it merges what was fused"},
    {kFollowed, "conditional-canonicalizer", "conditional-code-motion",
     "results that are elements of tuples can move one by one"},
    {kFollowed, "sort-simplifier", "topk-rewriter", "arrays that nobody reads are gone by then"},
    {kBefore, "top-k-decomposer", "stable-sort-expander", "what the one leaves is a stable sort"},
    {kBefore, "scatter-expander", "map-inliner", "windows are combined by maps"},
    {kBefore, "select-and-scatter-expander", "map-inliner", "windows are compared by maps"},
    {kBefore, "bfloat16-propagation", "bfloat16-normalization",
     "it may leave types side by side that the backend does not take"},
    {kBefore, "bfloat16-propagation", "bfloat16-conversion-folding",
     "converts are where they stay by then"},
    {kBefore, "bfloat16-normalization", "bfloat16-conversion-folding",
     "it puts converts before what may do without"},
    {kBefore, "bfloat16-mixed-precision-removal", "bfloat16-propagation",
     "it would undo what was chosen"},
    {kFollowed, "bfloat16-conversion-folding", "dce", "converts that were folded are dead"},
    {kBefore, "algebraic-simplifier", "bfloat16-conversion-folding",
     "its rules know no mixed precision"},
    {kBefore, "dot-decomposer", "bfloat16-conversion-folding", "it knows no mixed precision"},
    {kBefore, "all-reduce-combiner", "bfloat16-conversion-folding", "it knows no mixed precision"},
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
    {kBefore, "domain-isolator", "sharding-propagation", "borders keep the two sides apart"},
    {kBefore, "sharding-propagation", "domain-remover", "borders keep the two sides apart"},
    {kBefore, "sharding-propagation", "all-reduce-cross-combiner",
     "how values are split is known by then, and the module is one for all devices"},
    {kBefore, "all-reduce-cross-combiner", "all-reduce-combiner",
     "it pairs all-reduces of a single array"},
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
    {kBefore, "copy-insertion", "parallel-task-assigner", "copies have tasks, too"},
    {kBefore, "memory-scheduler", "parallel-task-assigner", "it asks who reads an array last"},
    {kBefore, "parallel-task-assigner", "parallel-task-outliner", "it goes by the counts"},
    {kBefore, "loop-fusion", "memory-space-propagation", "fusions are made by then"},
    {kBefore, "memory-scheduler", "hlo-rematerialization", "it goes by the order"},
    {kBefore, "cse", "hlo-rematerialization", "it would undo it"},
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
    const bool says_when = step.when != nullptr && !step.when->meaning.empty();
    if ((step.when != nullptr || step.on_request) && (!says_when || step.when->holds == nullptr))
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
