// Asks ChooseTasks of every instruction that runs by itself.
#include "optimized/passes/tasks/parallel_task_assigner.h"

#include "absl/container/flat_hash_set.h"
#include "optimized/analysis/tasks/task_split.h"
#include "optimized/passes/util/module_util.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

absl::flat_hash_set<const Computation*> ConditionsOf(absl::Span<Computation* const> units) {
  absl::flat_hash_set<const Computation*> conditions;
  for (const Computation* computation : units) {
    for (const Instruction* inst : *computation) {
      if (inst->opcode() == Opcode::kWhile) conditions.insert(inst->callee(0));
    }
  }
  return conditions;
}

void Explain(const Instruction& inst, const TaskChoice& choice, const PassOptions& options) {
  if (!options.explain || choice.why.empty()) return;
  const TaskSpan& span = choice.span;
  std::string line = choice.tasks == 0 ? StrCat(inst.name(), ": one task, ", choice.why)
                                       : StrCat(inst.name(), ": ", choice.tasks, " tasks, ",
                                                choice.why, " of ", span.work);
  if (span.extent > 0) {
    StrAppend(&line, "; ", span.extent, " to cut in multiples of ", span.unit);
  }
  options.explain(line);
}

}  // namespace

absl::StatusOr<bool> ParallelTaskAssigner::Run(Module& module, PassContext& context) {
  const Target* target = context.options.target;
  if (target == nullptr || target->ops == nullptr || target->Workers(kThreads) < 2) return false;
  const std::vector<Computation*> units = UnitComputations(module);
  const absl::flat_hash_set<const Computation*> conditions = ConditionsOf(units);
  bool changed = false;
  for (const Computation* computation : units) {
    const bool is_condition = conditions.contains(computation);
    for (Instruction* inst : *computation) {
      TaskChoice choice;
      if (!is_condition) choice = ChooseTasks(*inst, *target);
      if (choice.tasks > 0 && !context.gates.Allow(DecisionKind::kTask, "assign-tasks", inst)) {
        choice.tasks = 0;
        choice.why = "refused";
      }
      Explain(*inst, choice, context.options);
      if (NotedTasks(*inst) == choice.tasks) continue;
      NoteTasks(inst, choice.tasks);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
