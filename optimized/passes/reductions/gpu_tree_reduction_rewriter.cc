// The three cases of the document, by the dimensions that are reduced.
#include "optimized/passes/reductions/gpu_tree_reduction_rewriter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "optimized/passes/util/reduction_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

using Limits = GpuTreeReductionRewriter;

Shape WithSizes(const Shape& shape, DimVector sizes) {
  return Shape::Array(shape.element_type(), sizes);
}

// Adds a reduce of `data`, from the value that changes nothing.
Instruction* AddReduce(const Instruction& like, Instruction* data,
                       const std::vector<int64_t>& dimensions) {
  Computation* computation = data->parent();
  DimVector sizes;
  for (int64_t d = 0; d < data->shape().rank(); ++d) {
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end())
      sizes.push_back(data->shape().dimension(d));
  }
  return computation->Add(
      Opcode::kReduce, WithSizes(data->shape(), sizes),
      {data, AddNeutral(computation, like.callee(), data->shape().element_type())},
      DimensionsAttr(dimensions), like.callees());
}

// Case 1: f32[A,B,C] along {0,2} with a large A: along C first.
bool SplitBatch(Instruction* reduce, PassContext& context) {
  Rewrite rewrite(context.gates, "tree-reduce-batch", reduce);
  if (!rewrite) return false;
  Instruction* rows = AddReduce(*reduce, reduce->operand(0), {2});
  return ReplaceReduce(rewrite, reduce, {rows}, {0}, ReduceResults(*reduce));
}

// The operand with dimension `at` cut into parts of `length`, the last of which is padded.
Instruction* InParts(Instruction* reduce, int64_t at, int64_t length) {
  Instruction* data = reduce->operand(0);
  Computation* computation = reduce->parent();
  const int64_t size = data->shape().dimension(at);
  const int64_t parts = (size + length - 1) / length;
  DimVector sizes(data->shape().dimensions().begin(), data->shape().dimensions().end());
  sizes[at] = parts * length;
  if (parts * length != size) {
    std::vector<PaddingDim> padding(sizes.size());
    padding[at].high = parts * length - size;
    data = computation->Add(
        Opcode::kPad, WithSizes(data->shape(), sizes),
        {data, AddNeutral(computation, reduce->callee(), data->shape().element_type())},
        Attributes().Set(Attr::kPadding, AttrValue(std::move(padding))));
  }
  sizes[at] = parts;
  sizes.insert(sizes.begin() + at + 1, length);
  return AddBitcast(data, WithSizes(data->shape(), sizes));
}

// Cases 2 and 3: the parts of a long dimension first, with all else that is reduced.
bool SplitLong(Instruction* reduce, int64_t at, int64_t length, std::string_view rule,
               PassContext& context) {
  Rewrite rewrite(context.gates, rule, reduce);
  if (!rewrite) return false;
  Instruction* parts = InParts(reduce, at, length);
  std::vector<int64_t> dimensions;
  int64_t before = 0;  // dimensions in front of the parts that the first reduce takes away
  for (int64_t d : reduce->attributes().Integers(Attr::kDimensions)) {
    dimensions.push_back(d < at ? d : d + 1);
    before += d < at ? 1 : 0;
  }
  Instruction* first = AddReduce(*reduce, parts, dimensions);
  return ReplaceReduce(rewrite, reduce, {first}, {at - before}, ReduceResults(*reduce));
}

bool Split(Instruction* reduce, PassContext& context) {
  const Shape& input = reduce->operand(0)->shape();
  if (reduce->shape().IsTuple() || input.ElementCount() == 0 || !input.layout().IsRowMajor() ||
      !MayRegroup(reduce->callee(), input.element_type(), context.profile)) {
    return false;
  }
  const auto dimensions = reduce->attributes().Integers(Attr::kDimensions);
  const int64_t last = input.rank() - 1;
  const bool is_batched_row =
      input.rank() == 3 && dimensions.size() == 2 && IsReduced(*reduce, 0) && IsReduced(*reduce, 2);
  if (is_batched_row && input.dimension(0) > Limits::kLongestBatch) {
    return SplitBatch(reduce, context);
  }
  const bool is_row = dimensions.size() == 1 && dimensions[0] == last;
  if ((is_row || is_batched_row) && input.dimension(last) > Limits::kLongestRow) {
    return SplitLong(reduce, last, Limits::kLongestRow, "tree-reduce-row", context);
  }
  const bool is_column = dimensions.size() == 1 && dimensions[0] != last;
  if (is_column && input.dimension(dimensions[0]) > Limits::kLongestColumn) {
    return SplitLong(reduce, dimensions[0], Limits::kLongestColumn, "tree-reduce-column", context);
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> GpuTreeReductionRewriter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kReduce})) return false;
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsPlainReduce(*inst)) changed |= Split(inst, context);
    }
  }
  return changed;
}

}  // namespace assay
