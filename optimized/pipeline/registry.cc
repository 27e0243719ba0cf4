// The table of all passes.
#include "optimized/pipeline/registry.h"

#include <algorithm>

#include "optimized/passes/cleanup/cse.h"
#include "optimized/passes/cleanup/dce.h"
#include "optimized/passes/cleanup/map_inliner.h"
#include "optimized/passes/cleanup/module_dce.h"
#include "optimized/passes/cleanup/sanitize_constant_names.h"
#include "optimized/passes/cleanup/sort_simplifier.h"
#include "optimized/passes/cleanup/subcomputation_unification.h"
#include "optimized/passes/cleanup/zero_sized_elimination.h"
#include "optimized/passes/collectives/all_reduce_combiner.h"
#include "optimized/passes/collectives/all_reduce_cross_combiner.h"
#include "optimized/passes/collectives/all_reduce_simplifier.h"
#include "optimized/passes/collectives/collective_numbering.h"
#include "optimized/passes/control_flow/call_graph_flattener.h"
#include "optimized/passes/control_flow/call_inliner.h"
#include "optimized/passes/control_flow/conditional_canonicalizer.h"
#include "optimized/passes/control_flow/conditional_code_motion.h"
#include "optimized/passes/control_flow/conditional_simplifier.h"
#include "optimized/passes/control_flow/conditional_to_select.h"
#include "optimized/passes/control_flow/control_dep_remover.h"
#include "optimized/passes/control_flow/trip_count_annotator.h"
#include "optimized/passes/control_flow/tuple_simplifier.h"
#include "optimized/passes/control_flow/while_invariant_code_motion.h"
#include "optimized/passes/control_flow/while_simplifier.h"
#include "optimized/passes/domains/domain_isolator.h"
#include "optimized/passes/domains/domain_remover.h"
#include "optimized/passes/domains/domain_verifier.h"
#include "optimized/passes/domains/sharding_propagation.h"
#include "optimized/passes/expanders/async_expander.h"
#include "optimized/passes/expanders/batch_norm_expander.h"
#include "optimized/passes/expanders/convolution_canonicalization.h"
#include "optimized/passes/expanders/dynamic_index_splitter.h"
#include "optimized/passes/expanders/form_expander.h"
#include "optimized/passes/expanders/get_dimension_size_rewriter.h"
#include "optimized/passes/expanders/ragged_dot_expander.h"
#include "optimized/passes/expanders/rng_expander.h"
#include "optimized/passes/expanders/scaled_dot_expander.h"
#include "optimized/passes/expanders/scan_expander.h"
#include "optimized/passes/expanders/top_k_expander.h"
#include "optimized/passes/fallbacks/all_gather_decomposer.h"
#include "optimized/passes/fallbacks/contractions/convolution_4d_expander.h"
#include "optimized/passes/fallbacks/contractions/convolution_group_converter.h"
#include "optimized/passes/fallbacks/contractions/factorization_expanders.h"
#include "optimized/passes/fallbacks/contractions/fft_expander.h"
#include "optimized/passes/fallbacks/gather_expander.h"
#include "optimized/passes/fallbacks/logistic_expander.h"
#include "optimized/passes/fallbacks/rng_bit_generator_expander.h"
#include "optimized/passes/fallbacks/scatter_expander.h"
#include "optimized/passes/fallbacks/select_and_scatter_expander.h"
#include "optimized/passes/fallbacks/stable_sort_expander.h"
#include "optimized/passes/fallbacks/top_k_decomposer.h"
#include "optimized/passes/floats/bfloat16_conversion_folding.h"
#include "optimized/passes/floats/bfloat16_normalization.h"
#include "optimized/passes/floats/bfloat16_propagation.h"
#include "optimized/passes/floats/element_type_converter.h"
#include "optimized/passes/forms/batch_dot_simplification.h"
#include "optimized/passes/forms/dot_decomposer.h"
#include "optimized/passes/forms/slice_sinker.h"
#include "optimized/passes/forms/top_k_rewriter.h"
#include "optimized/passes/forms/variadic_op_splitter.h"
#include "optimized/passes/fusion/attention_fusion.h"
#include "optimized/passes/fusion/contraction_fusion.h"
#include "optimized/passes/fusion/defuser.h"
#include "optimized/passes/fusion/epilogue_fusion.h"
#include "optimized/passes/fusion/fusion_merger.h"
#include "optimized/passes/fusion/fusion_to_call.h"
#include "optimized/passes/fusion/horizontal_fusion.h"
#include "optimized/passes/fusion/loop_fusion.h"
#include "optimized/passes/fusion/multi_output_fusion.h"
#include "optimized/passes/fusion/row_fusion.h"
#include "optimized/passes/library/algorithm_pickers.h"
#include "optimized/passes/library/conv_rewriter.h"
#include "optimized/passes/library/cudnn_norm_rewriter.h"
#include "optimized/passes/library/gemm_rewriter.h"
#include "optimized/passes/library/library_call_inliner.h"
#include "optimized/passes/memory/alias_passthrough_params.h"
#include "optimized/passes/memory/copy_insertion.h"
#include "optimized/passes/memory/descheduler.h"
#include "optimized/passes/memory/memory_scheduler.h"
#include "optimized/passes/memory/memory_space_propagation.h"
#include "optimized/passes/memory/optimize_input_output_buffer_alias.h"
#include "optimized/passes/memory/rematerialization.h"
#include "optimized/passes/memory/root_instruction_sinker.h"
#include "optimized/passes/printers/indexed_array_printer.h"
#include "optimized/passes/reductions/gpu_tree_reduction_rewriter.h"
#include "optimized/passes/reductions/reduction_degenerate_dim_remover.h"
#include "optimized/passes/reductions/reduction_dimension_grouper.h"
#include "optimized/passes/reductions/reduction_layout_normalizer.h"
#include "optimized/passes/reductions/reduction_splitter.h"
#include "optimized/passes/reductions/tree_reduction_rewriter.h"
#include "optimized/passes/rules/algebraic_simplifier.h"
#include "optimized/passes/rules/constant_folding.h"
#include "optimized/passes/rules/reshape_mover.h"
#include "optimized/passes/tasks/parallel_task_assigner.h"
#include "optimized/passes/tasks/parallel_task_outliner.h"

namespace assay {
namespace {

template <typename P>
std::unique_ptr<Pass> Make() {
  return std::make_unique<P>();
}

constexpr PassInfo kPasses[] = {
    {"algebraic-simplifier", RunsIn::kPipeline, "local rules, within the profile's clauses",
     Make<AlgebraicSimplifier>},
    {"alias-passthrough-params", RunsIn::kOnRequest,
     "parameters that are results share their memory", Make<AliasPassthroughParams>},
    {"all-gather-decomposer", RunsIn::kPipeline,
     "parts are placed in zeros and added up, where all-gathers are refused",
     Make<AllGatherDecomposer>},
    {"all-reduce-combiner", RunsIn::kPipeline,
     "small all-reduces that do not need each other become one", Make<AllReduceCombiner>},
    {"all-reduce-cross-combiner", RunsIn::kPipeline,
     "a sum over partitions and one over replicas become one over all cores",
     Make<AllReduceCrossCombiner>},
    {"all-reduce-simplifier", RunsIn::kPipeline,
     "all-reduces of what all replicas have need no communication", Make<AllReduceSimplifier>},
    {"async-expander", RunsIn::kCompiler, "starts and dones become the plain operation",
     Make<AsyncExpander>},
    {"attention-fusion", RunsIn::kOnRequest,
     "two dots and the weights between them become one kernel (of GPUs)", Make<AttentionFusion>},
    {"batch-dot-simplification", RunsIn::kPipeline, "batch dimensions of size 1 go from dots",
     Make<BatchDotSimplification>},
    {"batch-norm-expander", RunsIn::kCompiler, "batch norms in terms of smaller ops",
     Make<BatchNormExpander>},
    {"bfloat16-conversion-folding", RunsIn::kOnRequest,
     "contractions read and give BF16 without converts, by the backend's table",
     Make<BFloat16ConversionFolding>},
    {"bfloat16-mixed-precision-removal", RunsIn::kOnRequest,
     "no op has BF16 beside F32, whatever a backend can do", Make<BFloat16MixedPrecisionRemoval>},
    {"bfloat16-normalization", RunsIn::kOnRequest,
     "BF16 becomes F32 where the backend does not do BF16", Make<BFloat16Normalization>},
    {"bfloat16-propagation", RunsIn::kOnRequest,
     "what all readers round to BF16 is rounded where it is made", Make<BFloat16Propagation>},
    {"call-graph-flattener", RunsIn::kCompiler, "each call site gets a computation of its own",
     Make<CallGraphFlattener>},
    {"call-inliner", RunsIn::kPipeline, "calls become what they call", Make<CallInliner>},
    {"cholesky-expander", RunsIn::kPipeline,
     "Cholesky factors column by column, where the kernel is refused", Make<CholeskyExpander>},
    {"collective-numbering", RunsIn::kCompiler,
     "collectives are numbered, for the plans of the runtime", Make<CollectiveNumbering>},
    {"conditional-canonicalizer", RunsIn::kPipeline, "conditionals give tuples",
     Make<ConditionalCanonicalizer>},
    {"conditional-code-motion", RunsIn::kPipeline,
     "what all branches do is done behind them, what one needs is computed in it",
     Make<ConditionalCodeMotion>},
    {"conditional-simplifier", RunsIn::kPipeline, "a constant predicate chooses at compile time",
     Make<ConditionalSimplifier>},
    {"conditional-to-select", RunsIn::kCompiler,
     "conditionals inside functions of single elements compute both sides and select",
     Make<ConditionalToSelect>},
    {"constant-folding", RunsIn::kPipeline, "constant expressions become constants",
     Make<ConstantFolding>},
    {"contraction-fusion", RunsIn::kPipeline,
     "dots read and write their arrays through transposes, slices and conversions",
     Make<ContractionFusion>},
    {"control-dep-remover", RunsIn::kOnRequest, "control dependencies go", Make<ControlDepRemover>},
    {"convolution-4d-expander", RunsIn::kPipeline,
     "convolutions lose trivial dimensions, where code for many is refused",
     Make<Convolution4dExpander>},
    {"convolution-canonicalization", RunsIn::kOnRequest,
     "convolutions get the dimension order of the fast path", Make<ConvolutionCanonicalization>},
    {"convolution-group-converter", RunsIn::kPipeline,
     "a convolution per group, where code for all groups is refused",
     Make<ConvolutionGroupConverter>},
    {"copy-insertion", RunsIn::kOnRequest,
     "copies where one buffer would have to hold two values (buffer assignment makes its own)",
     Make<CopyInsertion>},
    {"cse", RunsIn::kPipeline, "identical instructions become one",
     Make<CommonSubexpressionElimination>},
    {"cublas-gemm-pad-for-tensor-cores", RunsIn::kPipeline,
     "sizes of products are filled up to what tensor cores take", Make<CublasGemmPad>},
    {"cudnn-batchnorm-rewriter", RunsIn::kCompiler, "batch norms of f32 become calls of cuDNN",
     Make<CudnnBatchNormRewriter>},
    {"cudnn-fused-conv-rewriter", RunsIn::kPipeline,
     "factor, side input, bias and relu become part of the call of a convolution",
     Make<CudnnFusedConvRewriter>},
    {"cudnn-pad-for-convolutions", RunsIn::kPipeline,
     "features of convolution calls are filled up to what tensor cores take",
     Make<CudnnPadForConvolutions>},
    {"cusolver-rewriter", RunsIn::kPipeline, "factors of Cholesky become calls of cuSOLVER",
     Make<CusolverRewriter>},
    {"dce", RunsIn::kPipeline, "what nothing needs goes", Make<DeadCodeElimination>},
    {"defuser", RunsIn::kOnRequest, "fusions become what is in them", Make<Defuser>},
    {"descheduler", RunsIn::kCompiler, "the order that a module came with is forgotten",
     Make<Descheduler>},
    {"domain-isolator", RunsIn::kOnRequest, "domain instructions between different shardings",
     Make<DomainIsolator>},
    {"domain-remover", RunsIn::kOnRequest, "domain instructions go, what they say stays",
     Make<DomainRemover>},
    {"domain-verifier", RunsIn::kOnRequest, "an error where the borders of a domain disagree",
     Make<DomainVerifier>},
    {"dot-decomposer", RunsIn::kOnRequest,
     "dots of batch, m, k and batch, k, n (strides do as well on CPUs)", Make<DotDecomposer>},
    {"dynamic-index-splitter", RunsIn::kPipeline, "index vectors become scalars",
     Make<DynamicIndexSplitter>},
    {"epilogue-fusion", RunsIn::kOnRequest,
     "what only reads a dot becomes part of its kernel (of GPUs)", Make<EpilogueFusion>},
    {"fft-expander", RunsIn::kPipeline,
     "transforms as products with roots of unity, where the kernel is refused", Make<FftExpander>},
    {"form-expander", RunsIn::kCompiler, "rare forms of ops become the usual ones",
     Make<FormExpander>},
    {"fusion-merger", RunsIn::kOnRequest,
     "fusions of little work move into all that read them (of GPUs)", Make<FusionMerger>},
    {"fusion-to-call", RunsIn::kCompiler, "fusions that no kernel can make become calls",
     Make<FusionToCall>},
    {"gather-expander", RunsIn::kPipeline,
     "gathers are loops of slices, where the kernel is refused", Make<GatherExpander>},
    {"gemm-algorithm-picker", RunsIn::kPipeline, "calls of products are told an algorithm",
     Make<GemmAlgorithmPicker>},
    {"gemm-rewriter", RunsIn::kPipeline,
     "dots become calls of cuBLAS, with what is done to their results", Make<GemmRewriter>},
    {"get-dimension-size-rewriter", RunsIn::kCompiler, "sizes of static dimensions are constants",
     Make<GetDimensionSizeRewriter>},
    {"gpu-conv-algorithm-picker", RunsIn::kPipeline,
     "calls of convolutions are told an algorithm and get its workspace",
     Make<GpuConvAlgorithmPicker>},
    {"gpu-conv-padding-legalization", RunsIn::kPipeline,
     "padding of convolution calls becomes the same at both ends",
     Make<GpuConvPaddingLegalization>},
    {"gpu-conv-rewriter", RunsIn::kPipeline,
     "convolutions and their gradients become calls of cuDNN", Make<GpuConvRewriter>},
    {"gpu-copy-insertion", RunsIn::kOnRequest, "copies, also for operands of library calls",
     Make<GpuCopyInsertion>},
    {"gpu-sanitize-constant-names", RunsIn::kPipeline, "names of constants that PTX takes",
     Make<SanitizeConstantNames>},
    {"gpu-tree-reduction-rewriter", RunsIn::kOnRequest,
     "reduces too long for one kernel become two (of GPUs)", Make<GpuTreeReductionRewriter>},
    {"hlo-element-type-converter", RunsIn::kOnRequest, "F16 becomes F32 around arithmetic",
     Make<ElementTypeConverter>},
    {"hlo-module-dce", RunsIn::kPipeline,
     "what no result needs of loops' states, across the module", Make<ModuleDce>},
    {"hlo-rematerialization", RunsIn::kPipeline,
     "above the memory limit cheap values are computed again where they are read",
     Make<Rematerialization>},
    {"hlo-subcomputation-unification", RunsIn::kPipeline, "equal computations become one",
     Make<SubcomputationUnification>},
    {"horizontal-fusion", RunsIn::kOnRequest,
     "small kernels with one common consumer become one (pays where a launch is dear)",
     Make<HorizontalFusion>},
    {"indexed-array-analysis", RunsIn::kPipeline,
     "tells which arrays are look-ups, from verbosity 2 on", Make<IndexedArrayPrinter>},
    {"library-call-inliner", RunsIn::kCompiler,
     "calls of NVIDIA's libraries become the ops that they stand for", Make<LibraryCallInliner>},
    {"logistic-expander", RunsIn::kPipeline,
     "the logistic function as a quotient, where its own code is refused", Make<LogisticExpander>},
    {"loop-fusion", RunsIn::kPipeline, "producers move into the loops of their consumers",
     Make<LoopFusion>},
    {"map-inliner", RunsIn::kPipeline, "maps become the ops of their function, on whole arrays",
     Make<MapInliner>},
    {"memory-scheduler", RunsIn::kPipeline, "instructions are ordered so that less memory is alive",
     Make<MemoryScheduler>},
    {"memory-space-propagation", RunsIn::kPipeline,
     "what fusions read and write is in them where it is around them",
     Make<MemorySpacePropagation>},
    {"multi-output-fusion", RunsIn::kPipeline,
     "element-wise kernels that share arrays become one of several results",
     Make<MultiOutputFusion>},
    {"optimize-input-output-buffer-alias", RunsIn::kPipeline,
     "outputs use the memory of donated parameters", Make<OptimizeInputOutputBufferAlias>},
    {"parallel-task-assigner", RunsIn::kPipeline,
     "kernels say into how many tasks threads cut them", Make<ParallelTaskAssigner>},
    {"parallel-task-outliner", RunsIn::kOnRequest,
     "kernels of several tasks become calls, which fork and join", Make<ParallelTaskOutliner>},
    {"ragged-dot-expander", RunsIn::kCompiler, "a loop over groups in the place of a ragged dot",
     Make<RaggedDotExpander>},
    {"reduction-degenerate-dim-remover", RunsIn::kOnRequest,
     "reduces lose their dimensions of size 1", Make<ReductionDegenerateDimRemover>},
    {"reduction-dimension-grouper", RunsIn::kOnRequest,
     "neighbouring reduced dimensions become one", Make<ReductionDimensionGrouper>},
    {"reduction-layout-normalizer", RunsIn::kOnRequest,
     "operands of reduces are seen in the default layout", Make<ReductionLayoutNormalizer>},
    {"reduction-splitter", RunsIn::kOnRequest,
     "reduces along dimensions apart from each other become two", Make<ReductionSplitter>},
    {"reshape-mover", RunsIn::kPipeline, "reshapes that all operands have move behind the op",
     Make<ReshapeMover>},
    {"rng-bit-generator-expander", RunsIn::kPipeline,
     "random bits as ops on integers, where the kernel is refused", Make<RngBitGeneratorExpander>},
    {"rng-expander", RunsIn::kCompiler, "random numbers in terms of random bits",
     Make<RngExpander>},
    {"root-instruction-sinker", RunsIn::kOnRequest, "in a schedule the root comes last",
     Make<RootInstructionSinker>, /*needs_schedule=*/true},
    {"row-fusion", RunsIn::kOnRequest,
     "reduces along rows and their readers become one kernel (of GPUs)", Make<RowFusion>},
    {"scaled-dot-expander", RunsIn::kCompiler, "factors are multiplied in before the dot",
     Make<ScaledDotExpander>},
    {"scan-expander", RunsIn::kCompiler, "a loop over steps in the place of a scan",
     Make<ScanExpander>},
    {"scatter-expander", RunsIn::kPipeline,
     "scatters are loops over windows, where the kernel is refused", Make<ScatterExpander>},
    {"select-and-scatter-expander", RunsIn::kPipeline,
     "windows are compared element by element, where the kernel is refused",
     Make<SelectAndScatterExpander>},
    {"sharding-propagation", RunsIn::kOnRequest,
     "every value is split over devices as its operands or readers are", Make<ShardingPropagation>},
    {"slice-sinker", RunsIn::kPipeline,
     "ops on slices of the same arrays become slices of one on the whole", Make<SliceSinker>},
    {"sort-simplifier", RunsIn::kPipeline, "sorts lose arrays that nobody looks at",
     Make<SortSimplifier>},
    {"stable-sort-expander", RunsIn::kPipeline,
     "stable sorts compare places, too, where the stable kernel is refused",
     Make<StableSortExpander>},
    {"top-k-decomposer", RunsIn::kPipeline, "the first k of a sort, where the kernel is refused",
     Make<TopKDecomposer>},
    {"top-k-expander", RunsIn::kCompiler, "a custom call of TopK becomes the op",
     Make<TopKExpander>},
    {"topk-rewriter", RunsIn::kPipeline, "sorts of which the head is read become top-k",
     Make<TopKRewriter>},
    {"tree-reduction-rewriter", RunsIn::kPipeline,
     "long reductions in two steps, for smaller rounding errors", Make<TreeReductionRewriter>},
    {"triangular-solve-expander", RunsIn::kPipeline,
     "solves row by row, where the kernel is refused", Make<TriangularSolveExpander>},
    {"tuple-simplifier", RunsIn::kPipeline, "elements of tuples become what was put in",
     Make<TupleSimplifier>},
    {"variadic-op-splitter", RunsIn::kPipeline, "concatenates of very many operands become trees",
     Make<VariadicOpSplitter>},
    {"while-invariant-code-motion", RunsIn::kPipeline, "what no trip changes moves out of the loop",
     Make<WhileInvariantCodeMotion>},
    {"while-loop-trip-count-annotator", RunsIn::kPipeline, "loops say how often they run",
     Make<TripCountAnnotator>},
    {"while-simplifier", RunsIn::kPipeline, "loops of no or one trip, unused state",
     Make<WhileSimplifier>},
    {"zero-sized-hlo-elimination", RunsIn::kPipeline, "arrays without elements are constants",
     Make<ZeroSizedElimination>},
};

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

}  // namespace assay
