// Inserts domain instructions between different shardings.
#include "optimized/passes/domains/domain_isolator.h"

#include <utility>
#include <vector>

namespace assay {
namespace {

// One domain instruction per operand and sharding of users.
bool Isolate(Instruction* operand, Gates& gates) {
  const Sharding* from = operand->attributes().GetSharding(Attr::kSharding);
  if (from == nullptr || operand->opcode() == Opcode::kDomain) return false;
  std::vector<std::pair<const Sharding*, Instruction*>> borders;
  bool changed = false;
  const std::vector<Instruction*> users(operand->users().begin(), operand->users().end());
  for (Instruction* user : users) {
    const Sharding* to = user->attributes().GetSharding(Attr::kSharding);
    if (to == nullptr || user->opcode() == Opcode::kDomain || *to == *from) continue;
    Instruction* border = nullptr;
    for (const auto& [sharding, domain] : borders) {
      if (*sharding == *to) border = domain;
    }
    if (border == nullptr) {
      if (!gates.Allow(DecisionKind::kRewrite, "insert-domain", operand)) continue;
      DomainMetadata metadata;
      metadata.entry = *to;
      metadata.exit = *from;
      border = operand->parent()->Add(
          Opcode::kDomain, operand->shape(), {operand},
          Attributes().Set(Attr::kDomain, AttrValue(SharedValue<DomainMetadata>(metadata))));
      borders.emplace_back(to, border);
    }
    for (int64_t i = 0; i < user->operand_count(); ++i) {
      if (user->operand(i) == operand) user->ReplaceOperand(i, border);
    }
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> DomainIsolator::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.MakeNonfusionComputations()) {
    for (Instruction* inst : computation->InPostOrder()) changed |= Isolate(inst, context.gates);
  }
  return changed;
}

}  // namespace assay
