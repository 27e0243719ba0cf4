// Chooses a branch at compile time, or computes both and selects.
#include "optimized/passes/control_flow/conditional_simplifier.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "optimized/passes/util/conditional_util.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

constexpr int64_t kMostInstructions = 8;  // of a branch that is run although not chosen
constexpr int64_t kMostElements = 1024;   // of any value in such a branch

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

bool ToSelect(Instruction* conditional, Gates& gates, const Purity& purity) {
  if (BranchCount(*conditional) != 2 || !IsPred(conditional->operand(0)->shape().element_type()) ||
      !CanSelectBranches(*conditional) || !IsTiny(*conditional->callee(0), purity) ||
      !IsTiny(*conditional->callee(1), purity)) {
    return false;
  }
  Rewrite rewrite(gates, "conditional-to-select", conditional);
  if (!rewrite) return false;
  return rewrite.Replace(SelectBranches(conditional));
}

}  // namespace

absl::StatusOr<bool> ConditionalSimplifier::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConditional})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
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
