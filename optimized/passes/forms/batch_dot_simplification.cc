// Reshapes around a dot.
#include "optimized/passes/forms/batch_dot_simplification.h"

#include <algorithm>

#include "optimized/passes/util/dot_dimensions.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

// `dims` numbered anew after the dimensions `gone` went, which are left out.
DimVector Renumbered(const DimVector& dims, const DimVector& gone) {
  DimVector out;
  for (int64_t d : dims) {
    if (absl::c_linear_search(gone, d)) continue;
    out.push_back(d - std::count_if(gone.begin(), gone.end(), [d](int64_t g) { return g < d; }));
  }
  return out;
}

// Batch dimensions of size 1 of one side.
DimVector Degenerate(const Instruction& operand, const DimVector& batch) {
  DimVector gone;
  for (int64_t d : batch)
    if (operand.shape().dimension(d) == 1) gone.push_back(d);
  return gone;
}

Instruction* Without(Instruction* operand, const DimVector& gone) {
  DimVector sizes;
  for (int64_t d = 0; d < operand->shape().rank(); ++d)
    if (!absl::c_linear_search(gone, d)) sizes.push_back(operand->shape().dimension(d));
  return operand->parent()->Add(Opcode::kReshape,
                                Shape::Array(operand->shape().element_type(), sizes), {operand});
}

void SetOrRemove(Attributes& attributes, Attr attr, const DimVector& dims) {
  if (dims.empty()) {
    attributes.Remove(attr);
  } else {
    attributes.Set(attr, dims);
  }
}

Instruction* Simplified(Instruction* dot) {
  const DotDimensions left = DotDimensions::Of(*dot, 0), right = DotDimensions::Of(*dot, 1);
  const DimVector gone_left = Degenerate(*dot->operand(0), left.batch),
                  gone_right = Degenerate(*dot->operand(1), right.batch);
  Attributes attributes = dot->attributes();
  SetOrRemove(attributes, Attr::kLhsBatchDims, Renumbered(left.batch, gone_left));
  SetOrRemove(attributes, Attr::kRhsBatchDims, Renumbered(right.batch, gone_right));
  attributes.Set(Attr::kLhsContractingDims, Renumbered(left.summed, gone_left))
      .Set(Attr::kRhsContractingDims, Renumbered(right.summed, gone_right));
  Instruction* lhs = Without(dot->operand(0), gone_left);
  Instruction* rhs = Without(dot->operand(1), gone_right);
  // The result begins with the batch dimensions, in their order.
  DimVector sizes;
  for (int64_t d = 0; d < dot->shape().rank(); ++d) {
    const bool is_gone =
        d < static_cast<int64_t>(left.batch.size()) && dot->shape().dimension(d) == 1;
    if (!is_gone) sizes.push_back(dot->shape().dimension(d));
  }
  Instruction* smaller = dot->parent()->Add(
      Opcode::kDot, Shape::Array(dot->shape().element_type(), sizes), {lhs, rhs}, attributes);
  return dot->parent()->Add(Opcode::kReshape, dot->shape(), {smaller});
}

bool HasDegenerateBatch(const Instruction& inst) {
  return inst.opcode() == Opcode::kDot && IsPlain(inst) && inst.operand_count() == 2 &&
         !inst.attributes().Has(Attr::kSparsityConfig) && inst.shape().layout().IsRowMajor() &&
         inst.shape().layout().extras() == nullptr &&
         !Degenerate(*inst.operand(0), DotDimensions::Of(inst, 0).batch).empty();
}

}  // namespace

absl::StatusOr<bool> BatchDotSimplification::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!HasDegenerateBatch(*inst)) continue;
      Rewrite rewrite(context.gates, "simplify-batch-dot", inst);
      if (rewrite) changed |= rewrite.Replace(Simplified(inst));
    }
  }
  return changed;
}

}  // namespace assay
