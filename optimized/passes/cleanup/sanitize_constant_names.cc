// Names constants anew.
#include "optimized/passes/cleanup/sanitize_constant_names.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Like `name`, but of letters that a symbol may have, and not taken.
std::string Sanitized(std::string name, absl::flat_hash_set<std::string>& taken) {
  std::replace(name.begin(), name.end(), '.', '_');
  std::replace(name.begin(), name.end(), '-', '_');
  std::string free = name;
  for (int64_t k = 1; !taken.insert(free).second; ++k) free = StrCat(name, "_", k);
  return free;
}

bool NeedsName(const Instruction& inst) {
  return inst.opcode() == Opcode::kConstant &&
         inst.name().find_first_of(".-") != std::string::npos &&
         inst.control_predecessors().empty() && inst.control_successors().empty();
}

}  // namespace

absl::StatusOr<bool> SanitizeConstantNames::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kConstant})) return false;
  absl::flat_hash_set<std::string> taken;
  for (const Computation* computation : module.computations())
    for (const Instruction* inst : *computation) taken.insert(inst->name());
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (!NeedsName(*inst)) continue;
      if (!context.gates.Allow(DecisionKind::kRewrite, "sanitize-constant-name", inst)) continue;
      Instruction* named = computation->Add(Opcode::kConstant, inst->shape(), {},
                                            inst->attributes(), {}, Sanitized(inst->name(), taken));
      named->set_literal(inst->shared_literal());
      inst->ReplaceAllUsesWith(named);
      computation->Remove(inst);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
