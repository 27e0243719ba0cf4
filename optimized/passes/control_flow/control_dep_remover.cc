// Puts a copy without dependencies in the place of each instruction that has some.
#include "optimized/passes/control_flow/control_dep_remover.h"

namespace assay {
namespace {

// Edges end with either of their instructions. A parameter stays; what it is tied to goes.
bool IsTied(const Instruction& inst) {
  return inst.opcode() != Opcode::kParameter &&
         !(inst.control_predecessors().empty() && inst.control_successors().empty());
}

void Untie(Instruction* inst) {
  Computation* computation = inst->parent();
  Instruction* copy = computation->Add(inst->opcode(), inst->shape(), inst->operands(),
                                       inst->attributes(), inst->callees(), inst->name());
  copy->set_literal(inst->shared_literal());
  inst->ReplaceAllUsesWith(copy);
  computation->Remove(inst);
}

}  // namespace

absl::StatusOr<bool> ControlDepRemover::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!IsTied(*inst)) continue;
      if (!context.gates.Allow(DecisionKind::kRewrite, "remove-control-dependencies", inst))
        continue;
      Untie(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
