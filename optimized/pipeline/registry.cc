#include "optimized/pipeline/registry.h"

#include <algorithm>

#include "optimized/passes/control_flow/call_inliner.h"
#include "optimized/passes/control_flow/conditional_simplifier.h"
#include "optimized/passes/control_flow/tuple_simplifier.h"
#include "optimized/passes/control_flow/while_invariant_code_motion.h"
#include "optimized/passes/control_flow/while_simplifier.h"
#include "optimized/passes/domains/domain_isolator.h"
#include "optimized/passes/domains/domain_remover.h"
#include "optimized/passes/domains/domain_verifier.h"
#include "optimized/passes/expanders/async_expander.h"
#include "optimized/passes/expanders/batch_norm_expander.h"
#include "optimized/passes/expanders/convolution_canonicalization.h"
#include "optimized/passes/expanders/dynamic_index_splitter.h"
#include "optimized/passes/floats/bfloat16_normalization.h"
#include "optimized/passes/fusion/defuser.h"
#include "optimized/passes/fusion/horizontal_fusion.h"
#include "optimized/passes/fusion/loop_fusion.h"
#include "optimized/passes/module/all_reduce_cross_combiner.h"
#include "optimized/passes/module/copy_insertion.h"
#include "optimized/passes/module/cse.h"
#include "optimized/passes/module/dce.h"
#include "optimized/passes/module/indexed_array_printer.h"
#include "optimized/passes/module/optimize_input_output_buffer_alias.h"
#include "optimized/passes/reductions/reduction_degenerate_dim_remover.h"
#include "optimized/passes/reductions/reduction_dimension_grouper.h"
#include "optimized/passes/reductions/reduction_layout_normalizer.h"
#include "optimized/passes/reductions/tree_reduction_rewriter.h"
#include "optimized/passes/rules/algebraic_simplifier.h"
#include "optimized/passes/rules/constant_folding.h"

namespace assay {
namespace {

template <typename P>
std::unique_ptr<Pass> Make() {
  return std::make_unique<P>();
}

constexpr PassInfo kPasses[] = {
    {"algebraic-simplifier", RunsIn::kPipeline, "local rules, within the profile's clauses",
     Make<AlgebraicSimplifier>},
    {"all-reduce-cross-combiner", RunsIn::kOnRequest,
     "a sum over partitions and one over replicas become one over all cores",
     Make<AllReduceCrossCombiner>},
    {"async-expander", RunsIn::kCompiler, "starts and dones become the plain operation",
     Make<AsyncExpander>},
    {"batch-norm-expander", RunsIn::kCompiler, "batch norms in terms of smaller ops",
     Make<BatchNormExpander>},
    {"bfloat16-normalization", RunsIn::kOnRequest,
     "BF16 becomes F32 where the backend does not do BF16", Make<BFloat16Normalization>},
    {"call-inliner", RunsIn::kPipeline, "calls become what they call", Make<CallInliner>},
    {"conditional-simplifier", RunsIn::kPipeline, "a constant predicate chooses at compile time",
     Make<ConditionalSimplifier>},
    {"constant-folding", RunsIn::kPipeline, "constant expressions become constants",
     Make<ConstantFolding>},
    {"convolution-canonicalization", RunsIn::kOnRequest,
     "convolutions get the dimension order of the fast path", Make<ConvolutionCanonicalization>},
    {"copy-insertion", RunsIn::kOnRequest,
     "copies where one buffer would have to hold two values (buffer assignment makes its own)",
     Make<CopyInsertion>},
    {"cse", RunsIn::kPipeline, "identical instructions become one",
     Make<CommonSubexpressionElimination>},
    {"dce", RunsIn::kPipeline, "what nothing needs goes", Make<DeadCodeElimination>},
    {"defuser", RunsIn::kOnRequest, "fusions become what is in them", Make<Defuser>},
    {"domain-isolator", RunsIn::kOnRequest, "domain instructions between different shardings",
     Make<DomainIsolator>},
    {"domain-remover", RunsIn::kOnRequest, "domain instructions go, what they say stays",
     Make<DomainRemover>},
    {"domain-verifier", RunsIn::kOnRequest, "an error where the borders of a domain disagree",
     Make<DomainVerifier>},
    {"dynamic-index-splitter", RunsIn::kPipeline, "index vectors become scalars",
     Make<DynamicIndexSplitter>},
    {"horizontal-fusion", RunsIn::kOnRequest,
     "small kernels with one common consumer become one (pays where a launch is dear)",
     Make<HorizontalFusion>},
    {"indexed-array-analysis", RunsIn::kOnRequest,
     "tells which arrays are look-ups, from verbosity 2 on", Make<IndexedArrayPrinter>},
    {"loop-fusion", RunsIn::kPipeline, "producers move into the loops of their consumers",
     Make<LoopFusion>},
    {"optimize-input-output-buffer-alias", RunsIn::kOnRequest,
     "outputs use the memory of donated parameters", Make<OptimizeInputOutputBufferAlias>},
    {"reduction-degenerate-dim-remover", RunsIn::kOnRequest,
     "reduces lose their dimensions of size 1", Make<ReductionDegenerateDimRemover>},
    {"reduction-dimension-grouper", RunsIn::kOnRequest,
     "neighbouring reduced dimensions become one", Make<ReductionDimensionGrouper>},
    {"reduction-layout-normalizer", RunsIn::kOnRequest,
     "operands of reduces are seen in the default layout", Make<ReductionLayoutNormalizer>},
    {"tree-reduction-rewriter", RunsIn::kOnRequest,
     "long reductions in two steps, for smaller rounding errors", Make<TreeReductionRewriter>},
    {"tuple-simplifier", RunsIn::kPipeline, "elements of tuples become what was put in",
     Make<TupleSimplifier>},
    {"while-invariant-code-motion", RunsIn::kPipeline, "what no trip changes moves out of the loop",
     Make<WhileInvariantCodeMotion>},
    {"while-simplifier", RunsIn::kPipeline, "loops of no or one trip, unused state",
     Make<WhileSimplifier>},
};

// Where fusion begins; what works on single instructions must be done.
constexpr std::string_view kBeforeFusion[] = {"dynamic-index-splitter",
                                              "dce",
                                              "call-inliner",
                                              "tuple-simplifier",
                                              "constant-folding",
                                              "algebraic-simplifier",
                                              "conditional-simplifier",
                                              "while-simplifier",
                                              "tuple-simplifier",
                                              "constant-folding",
                                              "algebraic-simplifier",
                                              "cse",
                                              "while-invariant-code-motion",
                                              "tuple-simplifier",
                                              "dce"};
constexpr std::string_view kFusion[] = {"loop-fusion", "dce"};
// There is no code for fusions of several results: they are taken apart again.
constexpr std::string_view kOnRequestBeforeFusion[] = {"indexed-array-analysis",
                                                       "domain-isolator",
                                                       "domain-remover",
                                                       "all-reduce-cross-combiner",
                                                       "convolution-canonicalization",
                                                       "bfloat16-normalization",
                                                       "reduction-layout-normalizer",
                                                       "reduction-degenerate-dim-remover",
                                                       "reduction-dimension-grouper",
                                                       "tree-reduction-rewriter",
                                                       "horizontal-fusion",
                                                       "defuser",
                                                       "tuple-simplifier",
                                                       "dce"};
constexpr std::string_view kOnRequestAfterFusion[] = {"optimize-input-output-buffer-alias",
                                                      "copy-insertion"};

void Append(std::vector<std::string_view>& list, absl::Span<const std::string_view> more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

std::string_view Name(RunsIn where) {
  switch (where) {
    case RunsIn::kPipeline:
      return "pipeline";
    case RunsIn::kCompiler:
      return "compiler";
    case RunsIn::kOnRequest:
      return "on request";
  }
  return "";
}

absl::Span<const PassInfo> AllPasses() { return kPasses; }

const PassInfo* FindPass(std::string_view name) {
  const auto at = std::find_if(std::begin(kPasses), std::end(kPasses),
                               [&](const PassInfo& info) { return info.name == name; });
  return at == std::end(kPasses) ? nullptr : at;
}

std::vector<std::string_view> DefaultPasses() {
  std::vector<std::string_view> list;
  Append(list, kBeforeFusion);
  Append(list, kFusion);
  return list;
}

std::vector<std::string_view> EveryPass() {
  std::vector<std::string_view> list;
  Append(list, kBeforeFusion);
  Append(list, kOnRequestBeforeFusion);
  Append(list, kFusion);
  Append(list, kOnRequestAfterFusion);
  return list;
}

}  // namespace assay
