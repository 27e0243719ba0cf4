// The number of elements stands in the call's shape.
#include "optimized/passes/expanders/top_k_expander.h"

namespace assay {

bool IsTopKCall(const Instruction& inst) {
  if (inst.opcode() != Opcode::kCustomCall || inst.operand_count() != 1 ||
      inst.attributes().String(Attr::kCustomCallTarget) != "TopK") {
    return false;
  }
  const Shape &from = inst.operand(0)->shape(), &to = inst.shape();
  if (!from.IsArray() || from.rank() == 0 || !to.IsTuple() || to.elements().size() != 2) {
    return false;
  }
  const Shape &values = to.elements()[0], &places = to.elements()[1];
  return IsFloat(from.element_type()) && BitWidth(from.element_type()) >= 16 && values.IsArray() &&
         values.rank() == from.rank() && values.element_type() == from.element_type() &&
         places.IsArray() && places.element_type() == ElementType::kS32;
}

absl::StatusOr<bool> TopKExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kCustomCall})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!IsTopKCall(*inst)) continue;
      const Shape& values = inst->shape().elements()[0];
      Rewrite rewrite(context.gates, "expand-top-k", inst, /*required=*/true);
      Attributes attributes;
      attributes.Set(Attr::kK, AttrValue(values.dimension(values.rank() - 1)))
          .Set(Attr::kLargest, AttrValue(true));
      changed |= rewrite.Replace(computation->Add(Opcode::kTopK, inst->shape(), {inst->operand(0)},
                                                  std::move(attributes)));
    }
  }
  return changed;
}

}  // namespace assay
