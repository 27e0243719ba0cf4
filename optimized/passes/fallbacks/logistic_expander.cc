// A quotient by one and an exponential.
#include "optimized/passes/fallbacks/logistic_expander.h"

#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

Instruction* InType(Instruction* value, ElementType type) {
  if (value->shape().element_type() == type) return value;
  Shape shape = value->shape();
  shape.set_element_type(type);
  return value->parent()->Add(Opcode::kConvert, shape, {value});
}

}  // namespace

bool LogisticExpander::Matches(const Instruction& inst) const {
  return IsFloat(inst.shape().element_type());
}

Instruction* LogisticExpander::Expand(Instruction* inst) const {
  Computation* into = inst->parent();
  const ElementType type = inst->shape().element_type();
  const ElementType wide = type == ElementType::kF64 ? type : ElementType::kF32;
  Instruction* x = InType(inst->operand(0), wide);
  const Shape& shape = x->shape();
  Instruction* one = AddSplat(into, shape, AddScalarFloat(into, wide, 1));
  Instruction* minus = into->Add(Opcode::kNegate, shape, {x});
  Instruction* power = into->Add(Opcode::kExponential, shape, {minus});
  Instruction* sum = into->Add(Opcode::kAdd, shape, {one, power});
  return InType(into->Add(Opcode::kDivide, shape, {one, sum}), type);
}

}  // namespace assay
