// Replaces get-dimension-size of static dimensions.
#include "optimized/passes/expanders/get_dimension_size_rewriter.h"

#include "optimized/passes/util/rule_util.h"

namespace assay {

absl::StatusOr<bool> GetDimensionSizeRewriter::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kGetDimensionSize})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kGetDimensionSize) continue;
      const Shape& operand = inst->operand(0)->shape();
      const int64_t dimension = inst->attributes().Integers(Attr::kDimension)[0];
      if (operand.is_dynamic(dimension)) continue;
      Rewrite rewrite(context.gates, "expand-dimension-size", inst, /*required=*/true);
      changed |= rewrite.Replace(AddScalarInteger(computation, inst->shape().element_type(),
                                                  operand.dimension(dimension)));
    }
  }
  return changed;
}

}  // namespace assay
