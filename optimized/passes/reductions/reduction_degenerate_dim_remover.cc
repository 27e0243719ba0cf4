// Replaces a reduce by one without dimensions of size 1, between bitcasts.
#include "optimized/passes/reductions/reduction_degenerate_dim_remover.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/reduction_util.h"

namespace assay {
namespace {

// Without its dimensions of size 1; the others keep their order in memory.
Shape WithoutDegenerate(const Shape& shape) {
  DimVector sizes, number(shape.rank(), -1), order;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) == 1) continue;
    number[d] = static_cast<int64_t>(sizes.size());
    sizes.push_back(shape.dimension(d));
  }
  for (int64_t d : shape.layout().minor_to_major()) {
    if (number[d] >= 0) order.push_back(number[d]);
  }
  Shape out = Shape::Array(shape.element_type(), sizes);
  out.set_layout(Layout(order));
  return out;
}

bool RemoveDegenerate(Instruction* reduce, Gates& gates) {
  const Shape& input = reduce->operand(0)->shape();
  const auto sizes = input.dimensions();
  if (std::find(sizes.begin(), sizes.end(), 1) == sizes.end()) return false;
  Rewrite rewrite(gates, "remove-degenerate-reduced-dims", reduce);
  if (!rewrite) return false;
  std::vector<Instruction*> data;
  for (Instruction* operand : ReducedOperands(*reduce)) {
    data.push_back(AddBitcast(operand, WithoutDegenerate(operand->shape())));
  }
  std::vector<int64_t> dimensions;
  int64_t number = 0;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (input.dimension(d) == 1) continue;
    if (IsReduced(*reduce, d)) dimensions.push_back(number);
    ++number;
  }
  std::vector<Shape> results;
  for (const Shape& result : ReduceResults(*reduce)) results.push_back(WithoutDegenerate(result));
  return ReplaceReduce(rewrite, reduce, data, dimensions, results);
}

}  // namespace

absl::StatusOr<bool> ReductionDegenerateDimRemover::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsPlainReduce(*inst)) changed |= RemoveDegenerate(inst, context.gates);
    }
  }
  return changed;
}

}  // namespace assay
