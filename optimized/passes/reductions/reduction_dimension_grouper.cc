// Replaces a reduce by one whose neighbouring reduced dimensions are joined.
#include "optimized/passes/reductions/reduction_dimension_grouper.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/reduction_util.h"

namespace assay {
namespace {

bool Group(Instruction* reduce, Gates& gates) {
  const auto operands = ReducedOperands(*reduce);
  if (!std::all_of(operands.begin(), operands.end(), [](const Instruction* operand) {
        return operand->shape().layout().IsRowMajor();
      })) {
    return false;
  }
  const Shape& input = reduce->operand(0)->shape();
  DimVector sizes;
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < input.rank(); ++d) {
    const bool reduced = IsReduced(*reduce, d);
    if (reduced && d > 0 && IsReduced(*reduce, d - 1)) {
      sizes.back() *= input.dimension(d);
      continue;
    }
    if (reduced) dimensions.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(input.dimension(d));
  }
  if (static_cast<int64_t>(sizes.size()) == input.rank()) return false;
  Rewrite rewrite(gates, "group-reduced-dims", reduce);
  if (!rewrite) return false;
  std::vector<Instruction*> data;
  for (Instruction* operand : operands) {
    data.push_back(AddBitcast(operand, Shape::Array(operand->shape().element_type(), sizes)));
  }
  return ReplaceReduce(rewrite, reduce, data, dimensions, ReduceResults(*reduce));
}

}  // namespace

absl::StatusOr<bool> ReductionDimensionGrouper::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (IsPlainReduce(*inst)) changed |= Group(inst, context.gates);
    }
  }
  return changed;
}

}  // namespace assay
