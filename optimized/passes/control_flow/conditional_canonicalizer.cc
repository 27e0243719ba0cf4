// Wraps what the branches give.
#include "optimized/passes/control_flow/conditional_canonicalizer.h"

#include <vector>

#include "optimized/passes/util/conditional_util.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

bool GivesArray(const Instruction& inst) {
  if (inst.opcode() != Opcode::kConditional || !inst.shape().IsArray() ||
      inst.shape().HasDynamicDimension() || !inst.control_predecessors().empty() ||
      !inst.control_successors().empty())
    return false;
  for (int64_t branch = 0; branch < BranchCount(inst); ++branch)
    if (!HasMatchingShapes(inst, branch)) return false;
  return true;
}

// A branch may have other callers, so a copy of it is changed.
Computation* Wrapped(const Computation& branch, const Shape& tuple) {
  Computation* copy = branch.parent()->CloneComputation(branch, "tuple");
  copy->set_root(copy->Add(Opcode::kTuple, tuple, {copy->root()}));
  return copy;
}

Instruction* WithTuple(const Instruction& conditional) {
  const Shape tuple = Shape::Tuple({conditional.shape()});
  std::vector<Computation*> branches;
  for (const Computation* branch : conditional.callees())
    branches.push_back(Wrapped(*branch, tuple));
  Instruction* with = conditional.parent()->Add(Opcode::kConditional, tuple, conditional.operands(),
                                                conditional.attributes(), branches);
  return AddElement(conditional.parent(), with, 0);
}

}  // namespace

absl::StatusOr<bool> ConditionalCanonicalizer::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConditional})) return false;
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!GivesArray(*inst)) continue;
      Rewrite rewrite(context.gates, "conditional-to-tuple", inst);
      if (rewrite) changed |= rewrite.Replace(WithTuple(*inst));
    }
  }
  if (changed) ASSAY_RETURN_IF_ERROR(module.RemoveUnusedComputations());
  return changed;
}

}  // namespace assay
