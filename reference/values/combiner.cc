// Recognises combiners of one op, seen through converts that lose nothing.
#include "reference/values/combiner.h"

#include "spec/ir/called_instead.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

const Instruction* SkipConverts(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kConvert) instruction = instruction->operand(0);
  return instruction;
}

// A chain of converts loses nothing on the way if no step narrows.
bool OnlyWidens(const Instruction* from, const Instruction* to) {
  for (; from != to; from = from->operand(0)) {
    const ElementType wide = from->shape().element_type();
    const ElementType narrow = from->operand(0)->shape().element_type();
    const bool are_alike =
        (IsFloat(wide) && IsFloat(narrow)) || (IsComplex(wide) && IsComplex(narrow));
    if (!are_alike || BitWidth(wide) <= BitWidth(narrow)) return false;
  }
  return true;
}

}  // namespace

std::optional<Opcode> RecognisedCombiner(const Computation& outer) {
  const Computation& computation = CalledInstead(outer);
  if (computation.parameter_count() != 2) return std::nullopt;
  const Instruction* root = SkipConverts(computation.root());
  if (!Info(root->opcode()).Is(kAssociative)) return std::nullopt;
  const Instruction* a = SkipConverts(root->operand(0));
  const Instruction* b = SkipConverts(root->operand(1));
  const Instruction *first = computation.parameter(0), *second = computation.parameter(1);
  if (!((a == first && b == second) || (a == second && b == first))) return std::nullopt;
  if (!OnlyWidens(root->operand(0), a) || !OnlyWidens(root->operand(1), b)) return std::nullopt;
  // The converts around the root lead back in one step to the type that the parameters have.
  if (computation.root() != root &&
      (computation.root()->operand(0) != root ||
       computation.root()->shape().element_type() != a->shape().element_type()))
    return std::nullopt;
  return root->opcode();
}

}  // namespace assay::reference
