// Looks for the factors of what a step adds or subtracts.
#include "reference/interpreter/sums/fused_products.h"

namespace assay::reference {

void ChooseFusedProducts(const Plan& plan, const Plan::Step& step, absl::Span<const Value> values,
                         const LegalChoices& choices, MemoryMeter& memory, Value& result) {
  const Opcode opcode = step.instruction->opcode();
  if ((opcode != Opcode::kAdd && opcode != Opcode::kSubtract) || result.IsTuple()) return;
  const ElementType type = result.array->literal.element_type();
  if (type != ElementType::kF32 && type != ElementType::kF64) return;
  const Literal* operands[2];
  Factors factors[2];
  for (int k : {0, 1}) {
    const Plan::Step& operand = plan.steps[step.operands[k]];
    operands[k] = &values[step.operands[k]].array->literal;
    if (operand.instruction->opcode() != Opcode::kMultiply) continue;
    factors[k] = {&values[operand.operands[0]].array->literal,
                  &values[operand.operands[1]].array->literal};
  }
  if (factors[0].lhs == nullptr && factors[1].lhs == nullptr) return;
  Array fused = *result.array;
  FuseProducts(opcode == Opcode::kSubtract, operands, factors, choices, fused.literal);
  result = MakeValue(std::move(fused), memory);
}

}  // namespace assay::reference
