// Tags collectives by a frontend attribute, which every pass keeps.
#include "optimized/passes/collectives/collective_numbering.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Frontend attributes are what every pass keeps. The value is "NUMBER NAME".
constexpr std::string_view kTagKey = "_assay_collective";

StringMap::iterator FindTag(StringMap& map) {
  return std::find_if(map.begin(), map.end(),
                      [](const auto& entry) { return entry.first == kTagKey; });
}

bool IsStart(Opcode opcode) {
  return opcode == Opcode::kAllGatherStart || opcode == Opcode::kAllReduceStart ||
         opcode == Opcode::kCollectivePermuteStart;
}

void SetTag(Instruction& collective, std::string value) {
  StringMap map;
  if (const AttrValue* old = collective.attributes().Find(Attr::kFrontendAttributes)) {
    map = std::get<StringMap>(*old);
  }
  if (const auto written = FindTag(map); written != map.end()) map.erase(written);
  map.emplace_back(kTagKey, std::move(value));
  std::sort(map.begin(), map.end());
  collective.mutable_attributes().Set(Attr::kFrontendAttributes, AttrValue(std::move(map)));
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
      SetTag(*inst, StrCat(next++, " ", op, " ", inst->name()));
    }
  }
  return next > 0;
}

std::optional<CollectiveTag> TagOf(const Instruction& collective) {
  const std::string* value = collective.attributes().MapValue(Attr::kFrontendAttributes, kTagKey);
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

void ForgetTags(Module& module) {
  for (Computation* computation : module.computations()) {
    for (Instruction* inst : *computation) {
      AttrValue* value = inst->mutable_attributes().Find(Attr::kFrontendAttributes);
      if (value == nullptr) continue;
      auto& map = std::get<StringMap>(*value);
      if (const auto entry = FindTag(map); entry != map.end()) map.erase(entry);
      if (map.empty()) inst->mutable_attributes().Remove(Attr::kFrontendAttributes);
    }
  }
}

}  // namespace assay
