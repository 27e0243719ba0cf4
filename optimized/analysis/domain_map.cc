// Finds the domains of a computation by joining instructions with their operands.
#include "optimized/analysis/domain_map.h"

#include <numeric>
#include <string>

#include "spec/attributes/sharding_text.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

const DomainMetadata& MetadataOf(const Instruction& domain) {
  return *std::get<SharedValue<DomainMetadata>>(*domain.attributes().Find(Attr::kDomain));
}

std::string TextOf(const Sharding& sharding) {
  std::string out;
  AppendSharding(out, sharding);
  return out;
}

}  // namespace

const Sharding& OperandSideMetadata(const Instruction& domain) { return MetadataOf(domain).exit; }
const Sharding& UserSideMetadata(const Instruction& domain) { return MetadataOf(domain).entry; }

absl::StatusOr<const Sharding*> Domain::CommonMetadata() const {
  const Sharding* common = nullptr;
  const Instruction* first = nullptr;
  const auto agree = [&](const Instruction* domain, const Sharding& sharding) -> absl::Status {
    if (common == nullptr) {
      common = &sharding;
      first = domain;
      return absl::OkStatus();
    }
    if (*common == sharding) return absl::OkStatus();
    return absl::FailedPreconditionError(
        StrCat("domain instructions around ", instructions.front()->name(),
               " do not agree: ", first->name(), " says ", TextOf(*common), ", ", domain->name(),
               " says ", TextOf(sharding), "; one of them belongs elsewhere"));
  };
  for (const Instruction* domain : entries) {
    ASSAY_RETURN_IF_ERROR(agree(domain, UserSideMetadata(*domain)));
  }
  for (const Instruction* domain : exits) {
    ASSAY_RETURN_IF_ERROR(agree(domain, OperandSideMetadata(*domain)));
  }
  return common;
}

std::vector<Domain> DomainsOf(const Computation& computation) {
  const std::vector<Instruction*> order = computation.PostOrder();
  absl::flat_hash_map<const Instruction*, size_t> number;
  for (size_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  std::vector<size_t> parent(order.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto find = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const auto is_domain = [](const Instruction* inst) { return inst->opcode() == Opcode::kDomain; };
  for (const Instruction* inst : order) {
    if (is_domain(inst)) continue;
    for (const Instruction* operand : inst->operands()) {
      if (!is_domain(operand)) parent[find(number[inst])] = find(number[operand]);
    }
  }
  std::vector<Domain> domains;
  absl::flat_hash_map<size_t, size_t> place;
  for (Instruction* inst : order) {
    if (is_domain(inst)) continue;
    const auto [at, is_new] = place.emplace(find(number[inst]), domains.size());
    if (is_new) domains.emplace_back();
    Domain& domain = domains[at->second];
    domain.instructions.push_back(inst);
    for (const Instruction* operand : inst->operands()) {
      if (is_domain(operand)) domain.entries.push_back(operand);
    }
    for (const Instruction* user : inst->users()) {
      if (is_domain(user)) domain.exits.push_back(user);
    }
  }
  return domains;
}

}  // namespace assay
