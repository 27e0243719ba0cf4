// Replaces the operands of a reduce by bitcasts to the default layout.
#include "optimized/passes/reductions/reduction_layout_normalizer.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/reduction_util.h"

namespace assay {
namespace {

// `shape` with its dimensions in the order `from`, the same in memory.
Shape Reordered(const Shape& shape, absl::Span<const int64_t> from) {
  DimVector sizes, number(shape.rank()), order;
  for (size_t i = 0; i < from.size(); ++i) {
    sizes.push_back(shape.dimension(from[i]));
    number[from[i]] = static_cast<int64_t>(i);
  }
  for (int64_t d : shape.layout().minor_to_major()) order.push_back(number[d]);
  Shape out = Shape::Array(shape.element_type(), sizes);
  out.set_layout(Layout(order));
  return out;
}

bool Normalize(Instruction* reduce, Gates& gates) {
  const auto operands = ReducedOperands(*reduce);
  if (std::all_of(operands.begin(), operands.end(), [](const Instruction* operand) {
        return operand->shape().layout().IsRowMajor();
      })) {
    return false;
  }
  Rewrite rewrite(gates, "normalize-reduced-layout", reduce);
  if (!rewrite) return false;
  // Every operand goes by the layout of the first: one that has another is copied to it.
  const Shape& first = reduce->operand(0)->shape();
  const auto order = first.layout().minor_to_major();
  const DimVector major_to_minor(order.rbegin(), order.rend());
  std::vector<Instruction*> data;
  for (Instruction* operand : operands) {
    if (!(operand->shape().layout() == first.layout())) {
      Shape shape = operand->shape();
      shape.set_layout(first.layout());
      operand = reduce->parent()->Add(Opcode::kCopy, shape, {operand});
    }
    data.push_back(AddBitcast(operand, Reordered(operand->shape(), major_to_minor)));
  }
  std::vector<int64_t> dimensions;
  DimVector kept;  // result dimensions as the new reduce gives them
  for (size_t i = 0; i < major_to_minor.size(); ++i) {
    const int64_t d = major_to_minor[i];
    if (IsReduced(*reduce, d)) {
      dimensions.push_back(static_cast<int64_t>(i));
      continue;
    }
    int64_t number = d;
    for (int64_t before = 0; before < d; ++before) number -= IsReduced(*reduce, before) ? 1 : 0;
    kept.push_back(number);
  }
  std::vector<Shape> results;
  for (const Shape& result : ReduceResults(*reduce)) results.push_back(Reordered(result, kept));
  return ReplaceReduce(rewrite, reduce, data, dimensions, results);
}

}  // namespace

absl::StatusOr<bool> ReductionLayoutNormalizer::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsPlainReduce(*inst)) changed |= Normalize(inst, context.gates);
    }
  }
  return changed;
}

}  // namespace assay
