// Factors are spread over their blocks and multiplied in f32, or in f64 where that takes part.
#include "optimized/passes/expanders/scaled_dot_expander.h"

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

Instruction* Converted(Instruction* value, ElementType type) {
  if (value->shape().element_type() == type) return value;
  return value->parent()->Add(Opcode::kConvert, Shape::Array(type, value->shape().dimensions()),
                              {value});
}

// Operand `side` times its factors; a scalar in their place stands for no scaling.
Instruction* Scaled(Instruction* op, int64_t side, ElementType type) {
  Computation* into = op->parent();
  Instruction* data = Converted(op->operand(side), type);
  Instruction* factors = op->operand(side + 2);
  if (factors->shape().IsScalar() || data->shape().ElementCount() == 0) return data;
  factors = Converted(factors, type);
  DimVector blocks, places;
  for (int64_t d = 0; d < data->shape().rank(); ++d) {
    const int64_t count = factors->shape().dimension(d);
    places.push_back(2 * d);
    blocks.push_back(count);
    blocks.push_back(data->shape().dimension(d) / count);
  }
  Instruction* spread =
      into->Add(Opcode::kBroadcast, Shape::Array(type, blocks), {factors}, DimensionsAttr(places));
  spread = into->Add(Opcode::kReshape, data->shape(), {spread});
  return into->Add(Opcode::kMultiply, data->shape(), {data, spread});
}

Instruction* Expand(Instruction* op) {
  ElementType type = ElementType::kF32;
  if (op->shape().element_type() == ElementType::kF64) type = ElementType::kF64;
  for (const Instruction* operand : op->operands()) {
    if (operand->shape().element_type() == ElementType::kF64) type = ElementType::kF64;
  }
  Attributes attributes;
  for (const Attr attr : {Attr::kLhsBatchDims, Attr::kLhsContractingDims, Attr::kRhsBatchDims,
                          Attr::kRhsContractingDims, Attr::kOperandPrecision}) {
    const AttrValue* value = op->attributes().Find(attr);
    if (value != nullptr) attributes.Set(attr, *value);
  }
  Instruction* sums =
      op->parent()->Add(Opcode::kDot, Shape::Array(type, op->shape().dimensions()),
                        {Scaled(op, 0, type), Scaled(op, 1, type)}, std::move(attributes));
  return Converted(sums, op->shape().element_type());
}

}  // namespace

absl::StatusOr<bool> ScaledDotExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kScaledDot})) return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kScaledDot) continue;
      Rewrite rewrite(context.gates, "expand-scaled-dot", inst, /*required=*/true);
      changed |= rewrite.Replace(Expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
