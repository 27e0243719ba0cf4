// Compares computations of one size and root, callees before callers.
#include "optimized/passes/cleanup/subcomputation_unification.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/base/status_macros.h"

namespace assay {
namespace {

absl::flat_hash_set<const Computation*> FusionComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> computations;
  if (!module.HasAny({Opcode::kFusion})) return computations;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* inst : *computation)
      if (inst->opcode() == Opcode::kFusion) computations.insert(inst->callee());
  }
  return computations;
}

// The one that stands for each computation that goes.
absl::flat_hash_map<const Computation*, Computation*> Duplicates(const Module& module,
                                                                 Gates& gates) {
  const auto fusions = FusionComputations(module);
  std::map<std::pair<int64_t, Opcode>, std::vector<Computation*>> known;
  absl::flat_hash_map<const Computation*, Computation*> duplicates;
  for (Computation* computation : module.ComputationPostOrder()) {
    if (computation == module.entry() || fusions.contains(computation)) continue;
    auto& alike = known[{computation->instruction_count(), computation->root()->opcode()}];
    Computation* same = nullptr;
    for (Computation* other : alike) {
      if (!other->Equal(*computation)) continue;
      same = other;
      break;
    }
    if (same != nullptr &&
        gates.Allow(DecisionKind::kRewrite, "unify-computations", computation->root())) {
      duplicates[computation] = same;
    } else if (same == nullptr) {
      alike.push_back(computation);
    }
  }
  return duplicates;
}

}  // namespace

absl::StatusOr<bool> SubcomputationUnification::Run(Module& module, PassContext& context) {
  const auto duplicates = Duplicates(module, context.gates);
  if (duplicates.empty()) return false;
  for (Computation* computation : module.computations()) {
    for (Instruction* inst : *computation) {
      for (size_t i = 0; i < inst->callees().size(); ++i) {
        const auto at = duplicates.find(inst->callees()[i]);
        if (at != duplicates.end()) inst->set_callee(static_cast<int64_t>(i), at->second);
      }
    }
  }
  ASSAY_RETURN_IF_ERROR(module.RemoveUnusedComputations());
  return true;
}

}  // namespace assay
