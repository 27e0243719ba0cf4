// Asks the liveness of the whole module.
#include "optimized/passes/cleanup/module_dce.h"

#include "optimized/analysis/liveness.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/while_util.h"

namespace assay {
namespace {

bool PassOnDeadElements(const Instruction* loop, const Liveness& liveness, Gates& gates) {
  Computation* body = loop->callee(1);
  Instruction* root = body->root();
  if (root->opcode() != Opcode::kTuple || !root->users().empty()) return false;
  Instruction* state = body->parameter(0);
  bool changed = false;
  for (int64_t i = 0; i < root->operand_count(); ++i) {
    const Instruction* next = root->operand(i);
    const bool is_given_on = next->opcode() == Opcode::kGetTupleElement &&
                             next->operand(0) == state && next->tuple_index() == i;
    const bool is_dead = !liveness.IsElementLive(root, i);
    if (is_given_on || !gates.Holds("dead-loop-element/dead", loop, is_dead) ||
        !(next->shape() == state->shape().elements()[static_cast<size_t>(i)]) ||
        !gates.Allow(DecisionKind::kRewrite, "dead-loop-element", loop)) {
      continue;
    }
    root->ReplaceOperand(i, AddElement(body, state, i));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> ModuleDce::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kWhile})) return false;
  const Liveness liveness(module);
  bool changed = false;
  for (const Computation* computation : UnitComputations(module)) {
    for (const Instruction* inst : computation->PostOrder()) {
      if (inst->opcode() != Opcode::kWhile) continue;
      changed |= PassOnDeadElements(inst, liveness, context.gates);
    }
  }
  return changed;
}

}  // namespace assay
