// Writes the sharding of a domain on its instructions, then removes the borders.
#include "optimized/passes/domains/domain_remover.h"

#include "optimized/analysis/domain_map.h"

namespace assay {

absl::StatusOr<bool> DomainRemover::Run(Module& module, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.computations()) {
    for (const Domain& domain : DomainsOf(*computation)) {
      // If the sides of the border disagree, nothing follows; domain-verifier reports that.
      const absl::StatusOr<const Sharding*> common = domain.CommonMetadata();
      if (!common.ok() || *common == nullptr) continue;
      for (Instruction* inst : domain.instructions) {
        // The sharding of a tuple says something else: one part per leaf.
        if (inst->attributes().Has(Attr::kSharding) || !inst->shape().IsArray()) continue;
        inst->mutable_attributes().Set(Attr::kSharding, AttrValue(SharedValue<Sharding>(**common)));
        changed = true;
      }
    }
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kDomain) continue;
      Rewrite rewrite(context.gates, "remove-domain", inst);
      if (rewrite) changed |= rewrite.Replace(inst->operand(0));
    }
  }
  return changed;
}

}  // namespace assay
