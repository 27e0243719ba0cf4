// Chooses a branch at compile time, or computes both and selects.
#include "optimized/passes/control_flow/conditional_simplifier.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

constexpr int64_t kMostInstructions = 8;  // of a branch that is run although not chosen
constexpr int64_t kMostElements = 1024;   // of any value in such a branch

int64_t BranchCount(const Instruction& conditional) {
  return static_cast<int64_t>(conditional.callees().size());
}

// The branch that surely runs.
std::optional<int64_t> KnownBranch(const Instruction& conditional) {
  if (BranchCount(conditional) == 1) return 0;
  const Instruction* index = conditional.operand(0);
  const std::optional<int64_t> value = SplatInteger(index);
  if (!value) return std::nullopt;
  if (IsPred(index->shape().element_type())) return *value != 0 ? 0 : 1;
  // Out of range on either side: the last one.
  if (*value < 0 || *value >= BranchCount(conditional)) return BranchCount(conditional) - 1;
  return *value;
}

bool HasMatchingShapes(const Instruction& conditional, int64_t branch) {
  const Computation& callee = *conditional.callee(branch);
  return callee.parameter_count() == 1 && callee.root()->shape() == conditional.shape() &&
         callee.parameter(0)->shape() == conditional.operand(1 + branch)->shape();
}

bool InlineBranch(Instruction* conditional, Gates& gates) {
  std::optional<int64_t> branch = KnownBranch(*conditional);
  if (branch) branch = gates.Number("conditional-constant/branch", conditional, *branch);
  if (!branch || *branch < 0 || *branch >= BranchCount(*conditional) ||
      !HasMatchingShapes(*conditional, *branch))
    return false;
  Rewrite rewrite(gates, "conditional-constant", conditional);
  if (!rewrite) return false;
  Instruction* argument = conditional->operand(1 + *branch);
  return rewrite.Replace(
      InlineCopy(conditional->parent(), *conditional->callee(*branch), {&argument, 1}));
}

bool IsTiny(const Computation& branch, const Purity& purity) {
  if (branch.instruction_count() > kMostInstructions) return false;
  return std::all_of(branch.begin(), branch.end(), [&](const Instruction* inst) {
    return inst->callees().empty() && purity.IsPure(*inst) &&
           inst->control_predecessors().empty() &&
           (!inst->shape().IsArray() || inst->shape().ElementCount() <= kMostElements);
  });
}

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
  if (shape.IsArray()) {
    return computation->Add(Opcode::kSelect, shape, {predicate, on_true, on_false});
  }
  std::vector<Instruction*> elements;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    const auto element = [&](Instruction* tuple) {
      return computation->Add(Opcode::kGetTupleElement, shape.elements()[i], {tuple},
                              Attributes().Set(Attr::kIndex, static_cast<int>(i)));
    };
    Instruction* a = element(on_true);
    Instruction* b = element(on_false);
    elements.push_back(computation->Add(Opcode::kSelect, shape.elements()[i], {predicate, a, b}));
  }
  return computation->Add(Opcode::kTuple, shape, elements);
}

bool ToSelect(Instruction* conditional, Gates& gates, const Purity& purity) {
  if (BranchCount(*conditional) != 2 || !IsPred(conditional->operand(0)->shape().element_type()) ||
      !IsSelectable(conditional->shape()) || !HasMatchingShapes(*conditional, 0) ||
      !HasMatchingShapes(*conditional, 1) || !IsTiny(*conditional->callee(0), purity) ||
      !IsTiny(*conditional->callee(1), purity)) {
    return false;
  }
  Rewrite rewrite(gates, "conditional-to-select", conditional);
  if (!rewrite) return false;
  Computation* computation = conditional->parent();
  Instruction* results[2];
  for (int64_t i = 0; i < 2; ++i) {
    Instruction* argument = conditional->operand(1 + i);
    results[i] = InlineCopy(computation, *conditional->callee(i), {&argument, 1});
  }
  return rewrite.Replace(AddSelect(computation, conditional->operand(0), results[0], results[1]));
}

}  // namespace

absl::StatusOr<bool> ConditionalSimplifier::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConditional})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->PostOrder()) {
      if (inst->opcode() != Opcode::kConditional || !inst->control_predecessors().empty() ||
          !inst->control_successors().empty()) {
        continue;
      }
      changed |= InlineBranch(inst, context.gates) || ToSelect(inst, context.gates, purity);
    }
  }
  return changed;
}

}  // namespace assay
