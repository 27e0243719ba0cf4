// Structure of the graph: what must hold before anything can walk it. Document: hlo-format chapter
// 0, 3, 4.5.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/verifier/verifier_internal.h"

namespace assay::verifier {
namespace {

void CheckParameters(const Computation& computation, Errors& errors) {
  absl::flat_hash_map<int64_t, const Instruction*> by_number;
  for (const Instruction* instruction : computation) {
    if (instruction->opcode() != Opcode::kParameter) continue;
    const int64_t number = instruction->parameter_number();
    if (number < 0) {
      errors.AddAt(*instruction, "parameter number ", number, " is negative");
      continue;
    }
    const auto [at, is_new] = by_number.emplace(number, instruction);
    if (!is_new)
      errors.AddAt(*instruction, "parameter number ", number, " is also that of ",
                   at->second->name());
  }
  const int64_t count = static_cast<int64_t>(by_number.size());
  for (int64_t number = 0; number < count; ++number) {
    if (by_number.contains(number)) continue;
    errors.AddAt(computation, "there are ", count, " parameters but none has number ", number);
    return;
  }
}

void CheckEdges(const Instruction& instruction, Errors& errors) {
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    const Instruction* operand = instruction.operand(i);
    if (operand == nullptr) {
      errors.AddAt(instruction, "operand ", i, " is missing");
    } else if (operand->parent() != instruction.parent()) {
      errors.AddAt(instruction, "operand ", i, " (", operand->name(), ") belongs to computation ",
                   operand->parent()->name(), "; pass it as a parameter");
    }
  }
  for (const Instruction* predecessor : instruction.control_predecessors()) {
    if (predecessor->parent() == instruction.parent()) continue;
    errors.AddAt(instruction, "control predecessor ", predecessor->name(),
                 " belongs to computation ", predecessor->parent()->name());
  }
  for (const Computation* callee : instruction.callees()) {
    if (callee == nullptr) {
      errors.AddAt(instruction, "a called computation is missing");
    } else if (callee->parent() != instruction.parent()->parent()) {
      errors.AddAt(instruction, "calls computation ", callee->name(), " of another module");
    }
  }
}

// An instruction that no order can execute, or nullptr. Removes instructions whose predecessors are
// gone, as often as possible.
const Instruction* FindCycle(const Computation& computation) {
  absl::flat_hash_map<const Instruction*, int64_t> waiting;
  std::vector<const Instruction*> ready;
  for (const Instruction* instruction : computation) {
    const int64_t count = instruction->operand_count() +
                          static_cast<int64_t>(instruction->control_predecessors().size());
    waiting[instruction] = count;
    if (count == 0) ready.push_back(instruction);
  }
  auto release = [&](const Instruction* instruction) {
    if (--waiting[instruction] == 0) ready.push_back(instruction);
  };
  int64_t executed = 0;
  while (!ready.empty()) {
    const Instruction* at = ready.back();
    ready.pop_back();
    ++executed;
    for (const Instruction* user : at->users()) release(user);
    for (const Instruction* successor : at->control_successors()) release(successor);
  }
  if (executed == computation.instruction_count()) return nullptr;
  for (const Instruction* instruction : computation) {
    if (waiting[instruction] > 0) return instruction;
  }
  return nullptr;
}

void CheckComputation(const Computation& computation, Errors& errors) {
  if (computation.root() == nullptr) {
    errors.AddAt(computation, "there is no root");
  } else if (computation.root()->parent() != &computation) {
    errors.AddAt(computation, "the root ", computation.root()->name(), " belongs to computation ",
                 computation.root()->parent()->name());
  }
  CheckParameters(computation, errors);
  for (const Instruction* instruction : computation) CheckEdges(*instruction, errors);
}

// Calls form a directed acyclic graph: computations whose callees are all done can be done.
void CheckCalls(const Module& module, Errors& errors) {
  absl::flat_hash_map<const Computation*, absl::flat_hash_set<const Computation*>> callers;
  absl::flat_hash_map<const Computation*, int64_t> waiting;
  std::vector<const Computation*> ready;
  for (const Computation* computation : module.computations()) {
    int64_t callees = 0;
    for (const Instruction* instruction : *computation) {
      for (const Computation* callee : instruction->callees()) {
        if (callers[callee].insert(computation).second) ++callees;
      }
    }
    waiting[computation] = callees;
    if (callees == 0) ready.push_back(computation);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const Computation* at = ready.back();
    ready.pop_back();
    ++done;
    for (const Computation* caller : callers[at]) {
      if (--waiting[caller] == 0) ready.push_back(caller);
    }
  }
  if (done == module.computations().size()) return;
  for (const Computation* computation : module.computations()) {
    if (waiting[computation] > 0) {
      errors.AddAt(*computation, "calls itself, directly or through others; HLO has no recursion");
      return;
    }
  }
}

}  // namespace

bool OrderIsExecutable(const Computation& computation) {
  absl::flat_hash_set<const Instruction*> seen;
  seen.reserve(computation.instruction_count());
  auto all_seen = [&](absl::Span<Instruction* const> list) {
    return std::all_of(list.begin(), list.end(),
                       [&](const Instruction* i) { return seen.contains(i); });
  };
  for (const Instruction* instruction : computation) {
    if (!all_seen(instruction->operands()) || !all_seen(instruction->control_predecessors()))
      return false;
    seen.insert(instruction);
  }
  return true;
}

void CheckStructure(const Module& module, Errors& errors) {
  const auto computations = module.computations();
  if (module.entry() == nullptr) {
    errors.Add("module ", module.name(), " has no entry computation");
  } else if (std::find(computations.begin(), computations.end(), module.entry()) ==
             computations.end()) {
    errors.Add("the entry computation ", module.entry()->name(), " does not belong to module ",
               module.name());
  }
  for (const Computation* computation : computations) CheckComputation(*computation, errors);
  if (!errors.empty()) return;
  for (const Computation* computation : computations) {
    // Text is nearly always in executable order, which is cheap to see.
    if (OrderIsExecutable(*computation)) continue;
    if (const Instruction* at = FindCycle(*computation)) {
      errors.AddAt(*at, "depends on itself, directly or through others");
    }
  }
  CheckCalls(module, errors);
}

}  // namespace assay::verifier
