// Tags collectives by an internal attribute, which every pass keeps.
#include "optimized/passes/collectives/collective_numbering.h"

#include "absl/strings/numbers.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

bool IsStart(Opcode opcode) {
  return opcode == Opcode::kAllGatherStart || opcode == Opcode::kAllReduceStart ||
         opcode == Opcode::kCollectivePermuteStart;
}

}  // namespace

bool IsCollective(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<bool> CollectiveNumbering::Run(Module& module, PassContext&) {
  int64_t next = 0;
  for (Computation* computation : module.computations()) {
    for (Instruction* inst : *computation) {
      const bool start = IsStart(inst->opcode());
      if (!start && !IsCollective(inst->opcode())) continue;
      std::string_view op = Name(inst->opcode());
      if (start) op.remove_suffix(std::string_view("-start").size());
      // "NUMBER OP NAME"
      inst->mutable_attributes().Set(Attr::kCollectiveTag,
                                     AttrValue(StrCat(next++, " ", op, " ", inst->name())));
    }
  }
  return next > 0;
}

std::optional<CollectiveTag> TagOf(const Instruction& collective) {
  const AttrValue* tagged = collective.attributes().Find(Attr::kCollectiveTag);
  if (tagged == nullptr) return std::nullopt;
  const auto* value = std::get_if<std::string>(tagged);
  if (value == nullptr) return std::nullopt;
  const size_t space = value->find(' ');
  CollectiveTag tag;
  if (space == std::string::npos || !absl::SimpleAtoi(value->substr(0, space), &tag.number)) {
    return std::nullopt;
  }
  tag.name = value->substr(space + 1);
  return tag;
}

int64_t CollectiveNumber(const Instruction& collective) {
  const std::optional<CollectiveTag> tag = TagOf(collective);
  return tag ? tag->number : -1;
}

}  // namespace assay
