// The verifier says which instructions to look at.
#include "conformance/dumps/mixed_precision.h"

#include <limits>
#include <vector>

#include "spec/verifier/verifier.h"

namespace assay {
namespace {

bool IsFloatArray(const Shape& shape) { return shape.IsArray() && IsFloat(shape.element_type()); }

// The type in which the op computes: the first that its computation takes, or the widest around it.
ElementType TypeOf(const Instruction& instruction) {
  if (!instruction.callees().empty() && instruction.callee()->parameter_count() > 0) {
    const Shape& shape = instruction.callee()->parameter(0)->shape();
    if (IsFloatArray(shape)) return shape.element_type();
  }
  ElementType widest = ElementType::kF16;
  int64_t bits = 0;
  auto look = [&](const Shape& shape) {
    if (!IsFloatArray(shape) || BitWidth(shape.element_type()) <= bits) return;
    widest = shape.element_type();
    bits = BitWidth(widest);
  };
  look(instruction.shape());
  for (const Instruction* operand : instruction.operands()) look(operand->shape());
  return widest;
}

Shape OfType(const Shape& shape, ElementType type) {
  Shape other = shape;
  other.set_element_type(type);
  return other;
}

void Widen(Instruction* instruction) {
  Computation* computation = instruction->parent();
  const ElementType type = TypeOf(*instruction);
  for (int64_t k = 0; k < instruction->operand_count(); ++k) {
    Instruction* operand = instruction->operand(k);
    if (!IsFloatArray(operand->shape()) || operand->shape().element_type() == type) continue;
    Instruction* converted =
        computation->Add(Opcode::kConvert, OfType(operand->shape(), type), {operand});
    computation->MoveBefore(converted, instruction);
    instruction->ReplaceOperand(k, converted);
  }
  const Shape written = instruction->shape();
  if (!IsFloatArray(written) || written.element_type() == type) return;
  Instruction* narrow = computation->Add(Opcode::kConvert, written, {instruction});
  instruction->ReplaceAllUsesWith(narrow);
  narrow->ReplaceOperand(0, instruction);
  instruction->mutable_shape() = OfType(written, type);
  if (instruction->next() != nullptr && instruction->next() != narrow)
    computation->MoveBefore(narrow, instruction->next());
}

}  // namespace

void MakePrecisionExplicit(Module& module) {
  VerifyOptions options;
  options.max_errors = std::numeric_limits<int>::max();
  for (const VerifyError& error : FindErrors(module, options)) {
    if (error.instruction == nullptr) continue;
    bool is_mixed = false;
    const Instruction& wrong = *error.instruction;
    const ElementType type = TypeOf(wrong);
    for (const Instruction* operand : wrong.operands()) {
      is_mixed = is_mixed || (IsFloatArray(operand->shape()) &&
                              operand->shape().element_type() != type);
    }
    is_mixed = is_mixed || (IsFloatArray(wrong.shape()) && wrong.shape().element_type() != type);
    if (!is_mixed) continue;
    // The verifier gives what it looked at as constant; the module is the caller's.
    for (Instruction* instruction : *wrong.parent()) {
      if (instruction != &wrong) continue;
      Widen(instruction);
      break;
    }
  }
}

}  // namespace assay
