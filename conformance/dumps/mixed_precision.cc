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

// Moves the instruction to just behind `at`.
void MoveBehind(Instruction* instruction, Instruction* at) {
  if (at->next() != nullptr && at->next() != instruction)
    at->parent()->MoveBefore(instruction, at->next());
}

// Converts the result of the instruction, which now has wider types, to the shape that was written.
Instruction* Narrowed(Instruction* instruction, const Shape& written) {
  Computation* computation = instruction->parent();
  if (!written.IsTuple()) {
    Instruction* narrow = computation->Add(Opcode::kConvert, written, {instruction});
    MoveBehind(narrow, instruction);
    return narrow;
  }
  std::vector<Instruction*> elements;
  Instruction* last = instruction;
  for (size_t k = 0; k < written.elements().size(); ++k) {
    const Shape& shape = instruction->shape().elements()[k];
    Instruction* element =
        computation->Add(Opcode::kGetTupleElement, shape, {instruction},
                         Attributes().Set(Attr::kIndex, AttrValue(static_cast<int64_t>(k))));
    MoveBehind(element, last);
    last = element;
    if (shape.element_type() != written.elements()[k].element_type()) {
      element = computation->Add(Opcode::kConvert, written.elements()[k], {element});
      MoveBehind(element, last);
      last = element;
    }
    elements.push_back(element);
  }
  Instruction* tuple = computation->Add(Opcode::kTuple, written, elements);
  MoveBehind(tuple, last);
  return tuple;
}

// The shape with all floats of `type`; nested tuples stay as they are.
Shape Widened(const Shape& shape, ElementType type) {
  if (IsFloatArray(shape)) return OfType(shape, type);
  if (!shape.IsTuple()) return shape;
  Shape wide = shape;
  for (Shape& element : wide.mutable_elements())
    if (IsFloatArray(element)) element = OfType(element, type);
  return wide;
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
  const Shape wide = Widened(written, type);
  if (Compatible(written, wide)) return;
  const OperandVector users(instruction->users().begin(), instruction->users().end());
  instruction->mutable_shape() = wide;
  Instruction* narrow = Narrowed(instruction, written);
  for (Instruction* user : users) {
    for (int64_t k = 0; k < user->operand_count(); ++k)
      if (user->operand(k) == instruction) user->ReplaceOperand(k, narrow);
  }
  if (computation->root() == instruction) computation->set_root(narrow);
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
      is_mixed =
          is_mixed || (IsFloatArray(operand->shape()) && operand->shape().element_type() != type);
    }
    is_mixed = is_mixed || !Compatible(wrong.shape(), Widened(wrong.shape(), type));
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
