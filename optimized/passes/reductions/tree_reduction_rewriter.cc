// Replaces a long reduce by a reduce-window and a reduce.
#include "optimized/passes/reductions/tree_reduction_rewriter.h"

#include <vector>

#include "optimized/passes/util/reduction_util.h"

namespace assay {
namespace {

bool Split(Instruction* reduce, int64_t window_size, PassContext& context) {
  if (reduce->shape().IsTuple() || reduce->operand(0)->shape().ElementCount() == 0) return false;
  const Shape& input = reduce->operand(0)->shape();
  const auto dimensions = reduce->attributes().Integers(Attr::kDimensions);
  const ElementType type = input.element_type();
  if (dimensions.empty() || !MayRegroup(reduce->callee(), type, context.profile)) return false;
  Shape partial = input;
  std::vector<WindowDim> window(input.rank());
  for (int64_t d : dimensions) {
    const int64_t size = input.dimension(d);
    if (size < window_size) return false;
    const int64_t count = (size + window_size - 1) / window_size;
    const int64_t padding = count * window_size - size;  // of kSame: the larger half behind
    window[d].size = window[d].stride = window_size;
    window[d].low = padding / 2;
    window[d].high = padding - padding / 2;
    partial.set_dimension(d, count);
  }
  Rewrite rewrite(context.gates, "tree-reduction", reduce);
  if (!rewrite) return false;
  Computation* computation = reduce->parent();
  Instruction* padding = AddNeutral(computation, reduce->callee(), type);
  Instruction* windows = computation->Add(
      Opcode::kReduceWindow, partial, {reduce->operand(0), padding},
      Attributes().Set(Attr::kWindow, AttrValue(std::move(window))), reduce->callees());
  return ReplaceReduce(rewrite, reduce, {windows}, dimensions, ReduceResults(*reduce));
}

}  // namespace

absl::StatusOr<bool> TreeReductionRewriter::Run(Module& module, PassContext& context) {
  const int64_t window_size = context.options.reduce_window_size;
  if (window_size < 2) {
    return absl::InvalidArgumentError(
        "tree-reduction-rewriter: reduce_window_size must be 2 or more");
  }
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsPlainReduce(*inst)) changed |= Split(inst, window_size, context);
    }
  }
  return changed;
}

}  // namespace assay
