// Copies called computations into their callers.
#include "optimized/passes/control_flow/call_inliner.h"

#include "optimized/passes/util/module_util.h"

namespace assay {
namespace {

bool CanInline(const Instruction& call) {
  if (call.opcode() != Opcode::kCall || !call.control_predecessors().empty() ||
      !call.control_successors().empty()) {
    return false;
  }
  const Computation& callee = *call.callee();
  if (!(callee.root()->shape() == call.shape()) ||
      callee.parameter_count() != call.operand_count()) {
    return false;
  }
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    if (!(call.operand(i)->shape() == callee.parameter(i)->shape())) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> CallInliner::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kCall})) return false;
  bool changed = false;
  int64_t size = module.InstructionCount();
  // Callees first, so that what is copied holds no calls any more.
  for (Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!CanInline(*inst)) continue;
      const int64_t added = inst->callee()->instruction_count();
      if (size + added > kMaxInlinedInstructions) continue;
      Rewrite rewrite(context.gates, "call-inline", inst);
      if (!rewrite) continue;
      size += added;
      changed |= rewrite.Replace(InlineCopy(computation, *inst->callee(), inst->operands()));
    }
  }
  return changed;
}

}  // namespace assay
