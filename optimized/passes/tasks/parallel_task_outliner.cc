// A parameter per operand, the kernel, and a call in its place.
#include "optimized/passes/tasks/parallel_task_outliner.h"

#include <vector>

#include "optimized/analysis/tasks/task_split.h"
#include "optimized/passes/util/module_util.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// The call stands where the kernel stood, which a schedule goes by.
void Outline(Instruction* kernel, int64_t tasks, const Gates& gates) {
  Module& module = *kernel->parent()->parent();
  Computation* outlined = module.AddComputation(StrCat("parallel_", kernel->name()));
  std::vector<Instruction*> operands(kernel->operands().begin(), kernel->operands().end());
  std::vector<Instruction*> parameters;
  for (size_t k = 0; k < operands.size(); ++k) {
    parameters.push_back(outlined->AddParameter(static_cast<int64_t>(k), operands[k]->shape()));
  }
  // The kernel reads each operand where the call gives it.
  std::vector<Instruction*> read;
  for (size_t k = 0; k < operands.size(); ++k) {
    const int64_t at = gates.Number("outline-kernel/parameter", kernel, static_cast<int64_t>(k));
    const bool is_legal = at >= 0 && at < static_cast<int64_t>(operands.size()) &&
                          operands[static_cast<size_t>(at)]->shape() == operands[k]->shape();
    read.push_back(parameters[is_legal ? static_cast<size_t>(at) : k]);
  }
  const std::vector<Computation*> callees(kernel->callees().begin(), kernel->callees().end());
  NoteTasks(kernel, 0);
  outlined->set_root(outlined->Add(kernel->opcode(), kernel->shape(), read, kernel->attributes(),
                                   callees, kernel->name()));
  Instruction* call =
      kernel->parent()->Add(Opcode::kCall, kernel->shape(), operands, {}, {outlined});
  NoteTasks(call, tasks);
  kernel->parent()->MoveBefore(call, kernel);
  kernel->ReplaceAllUsesWith(call);
  kernel->parent()->Remove(kernel);
}

}  // namespace

absl::StatusOr<bool> ParallelTaskOutliner::Run(Module& module, PassContext& context) {
  std::vector<Instruction*> kernels;
  for (const Computation* computation : UnitComputations(module)) {
    for (Instruction* inst : *computation) {
      const bool is_ordered =
          !inst->control_predecessors().empty() || !inst->control_successors().empty();
      if (NotedTasks(*inst) > 0 && inst->opcode() != Opcode::kCall && !is_ordered) {
        kernels.push_back(inst);
      }
    }
  }
  bool changed = false;
  for (Instruction* kernel : kernels) {
    if (!context.gates.Allow(DecisionKind::kTask, "outline-kernel", kernel)) continue;
    Outline(kernel, NotedTasks(*kernel), context.gates);
    changed = true;
  }
  return changed;
}

}  // namespace assay
