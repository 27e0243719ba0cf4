// Inlines all branches of a conditional and selects.
#include "optimized/passes/util/conditional_util.h"

#include <algorithm>
#include <vector>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

bool IsSelectable(const Shape& shape) {
  if (shape.IsArray()) return !shape.HasDynamicDimension();
  return shape.IsTuple() &&
         std::all_of(shape.elements().begin(), shape.elements().end(), [](const Shape& element) {
           return element.IsArray() && !element.HasDynamicDimension();
         });
}

Instruction* AddSelect(Computation* computation, Instruction* predicate, Instruction* on_true,
                       Instruction* on_false) {
  const Shape& shape = on_true->shape();
  if (shape.IsArray())
    return computation->Add(Opcode::kSelect, shape, {predicate, on_true, on_false});
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    Instruction* a = AddElement(computation, on_true, static_cast<int64_t>(i));
    Instruction* b = AddElement(computation, on_false, static_cast<int64_t>(i));
    elements.push_back(computation->Add(Opcode::kSelect, shape.elements()[i], {predicate, a, b}));
  }
  return computation->Add(Opcode::kTuple, shape, elements);
}

// The predicate that chooses `branch` rather than one behind it.
Instruction* AddChoice(Instruction* conditional, int64_t branch) {
  Instruction* index = conditional->operand(0);
  if (IsPred(index->shape().element_type())) return index;
  Computation* computation = conditional->parent();
  Instruction* number = AddScalarInteger(computation, index->shape().element_type(), branch);
  return computation->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred), {index, number},
                          Attributes().Set(Attr::kDirection, Direction::kEq));
}

}  // namespace

bool HasMatchingShapes(const Instruction& conditional, int64_t branch) {
  const Computation& callee = *conditional.callee(branch);
  return callee.parameter_count() == 1 && callee.root()->shape() == conditional.shape() &&
         callee.parameter(0)->shape() == conditional.operand(1 + branch)->shape();
}

bool CanSelectBranches(const Instruction& conditional) {
  if (!IsSelectable(conditional.shape())) return false;
  for (int64_t branch = 0; branch < BranchCount(conditional); ++branch)
    if (!HasMatchingShapes(conditional, branch)) return false;
  return true;
}

Instruction* SelectBranches(Instruction* conditional) {
  Computation* computation = conditional->parent();
  std::vector<Instruction*> results;
  for (int64_t branch = 0; branch < BranchCount(*conditional); ++branch) {
    Instruction* argument = conditional->operand(1 + branch);
    results.push_back(InlineCopy(computation, *conditional->callee(branch), {&argument, 1}));
  }
  Instruction* chosen = results.back();
  for (auto branch = static_cast<int64_t>(results.size()) - 1; branch-- > 0;)
    chosen = AddSelect(computation, AddChoice(conditional, branch), results[branch], chosen);
  return chosen;
}

}  // namespace assay
