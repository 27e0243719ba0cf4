#include "optimized/cpu/collective_plan.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay {
namespace {

constexpr std::string_view kNumberKey = "_assay_collective";

StringMap::iterator FindNumber(StringMap& map) {
  return std::find_if(map.begin(), map.end(),
                      [](const auto& entry) { return entry.first == kNumberKey; });
}

int64_t Bytes(const Shape& shape) {
  return shape.ElementCount() * StorageBytes(shape.element_type());
}

const Shape& ResultShape(const Instruction& i, int64_t k) {
  return i.shape().IsTuple() ? i.shape().elements()[k] : i.shape();
}

class Planner {
 public:
  Planner(const Instruction& instruction, std::string name, const DeviceAssignment& devices)
      : i_(instruction), attributes_(instruction.attributes()), devices_(devices) {
    plan_.meeting.name = std::move(name);
  }

  absl::StatusOr<CollectivePlan> Plan() {
    const auto count = static_cast<size_t>(devices_.replicas * devices_.partitions);
    plan_.meeting.sources.resize(count);
    plan_.meeting.readers.resize(count);
    plan_.position.resize(count, 0);
    plan_.operand_count = i_.operand_count();
    plan_.kind = KindOf();
    absl::Status status = i_.opcode() == Opcode::kCollectivePermute ? PlanPairs() : PlanGroups();
    if (status.ok()) status = PlanArrays();
    if (status.ok()) return std::move(plan_);
    return MakeError(ErrorClass::kRejected,
                     StrCat("cpu: ", plan_.meeting.name, ": ", ToStd(status.message())));
  }

 private:
  using Kind = CollectivePlan::Kind;

  Kind KindOf() const {
    switch (i_.opcode()) {
      case Opcode::kAllGather:
        return Kind::kGather;
      case Opcode::kAllToAll:
        return attributes_.Has(Attr::kDimension) ? Kind::kExchange : Kind::kExchangeOperands;
      case Opcode::kCollectiveBroadcast:
        return attributes_.Flag(Attr::kHasDynamicRoot) ? Kind::kTakeFromRoot : Kind::kTake;
      case Opcode::kCollectivePermute:
        return Kind::kTake;
      case Opcode::kRaggedAllToAll:
        return Kind::kRagged;
      default:
        return Kind::kReduce;
    }
  }

  absl::Status PlanPairs() {
    const auto pairs = ProcessPairs(attributes_, devices_.replicas, devices_.partitions);
    if (!pairs.ok()) return pairs.status();
    for (const auto& [source, target] : *pairs) {
      plan_.meeting.sources[target].push_back(source);
      plan_.meeting.readers[source].push_back(target);
    }
    return absl::OkStatus();
  }

  absl::Status PlanGroups() {
    const auto groups =
        ProcessGroups(i_.opcode(), attributes_, devices_.replicas, devices_.partitions);
    if (!groups.ok()) return groups.status();
    for (const Int64List& ids : *groups) {
      const std::vector<int64_t> group(ids.begin(), ids.end());
      members_.push_back(static_cast<int64_t>(group.size()));
      for (size_t p = 0; p < group.size(); ++p) {
        plan_.position[group[p]] = static_cast<int64_t>(p);
        if (plan_.kind == Kind::kTake) {
          plan_.meeting.sources[group[p]] = {group[0]};
        } else {
          plan_.meeting.sources[group[p]] = plan_.meeting.readers[group[p]] = group;
        }
      }
      if (plan_.kind == Kind::kTake) plan_.meeting.readers[group[0]] = group;
    }
    return absl::OkStatus();
  }

  // What the runtime reads and writes follows from the sizes: they must fit every group.
  absl::Status RequireMembers(int64_t members, std::string_view why) const {
    for (int64_t has : members_) {
      if (has == members) continue;
      return absl::InvalidArgumentError(
          StrCat(why, " for groups of ", members, ", there is one of ", has));
    }
    return absl::OkStatus();
  }

  absl::Status PlanArrays() {
    if (plan_.kind == Kind::kRagged) return PlanRagged();
    const int64_t results = i_.operand_count() - (plan_.kind == Kind::kTakeFromRoot ? 1 : 0);
    for (int64_t k = 0; k < results; ++k) {
      const Shape &from = i_.operand(k)->shape(), &to = ResultShape(i_, k);
      CollectivePlan::Array& array = plan_.arrays.emplace_back();
      array.element = StorageBytes(from.element_type());
      array.row = array.block = Bytes(from);
      if (attributes_.Has(Attr::kDimension)) {
        absl::Status status = PlanBlocks(from, to, array);
        if (!status.ok()) return status;
      }
    }
    if (plan_.kind != Kind::kExchangeOperands) return absl::OkStatus();
    return RequireMembers(i_.operand_count(), "its operands are");
  }

  absl::Status PlanBlocks(const Shape& from, const Shape& to, CollectivePlan::Array& array) {
    const int64_t dim = attributes_.Integers(Attr::kDimension)[0];
    int64_t inner = array.element;
    for (int64_t d = 0; d < from.rank(); ++d) {
      if (d < dim) array.outer *= from.dimension(d);
      if (d > dim) inner *= from.dimension(d);
    }
    int64_t whole = from.dimension(dim), part = to.dimension(dim);
    if (plan_.kind == Kind::kGather) std::swap(whole, part);
    if (plan_.kind == Kind::kExchange) {
      const int64_t members = members_.empty() ? 1 : members_[0];
      part = whole / members;
    }
    array.row = whole * inner;
    array.block = part * inner;
    for (int64_t members : members_) {
      if (part * members == whole) continue;
      return absl::InvalidArgumentError(StrCat("dimension ", dim, " has ", whole, " and ", part,
                                               " elements, the group has ", members, " members"));
    }
    return absl::OkStatus();
  }

  absl::Status PlanRagged() {
    const Shape &input = i_.operand(0)->shape(), &output = i_.operand(1)->shape();
    const Shape& lists = i_.operand(2)->shape();
    CollectivePlan::Array& array = plan_.arrays.emplace_back();
    array.element = StorageBytes(output.element_type());
    array.row = array.block = Bytes(output);
    CollectivePlan::Ragged& ragged = plan_.ragged;
    ragged.input_rows = input.dimension(0);
    ragged.output_rows = output.dimension(0);
    ragged.row_bytes = array.element;
    for (int64_t d = 1; d < output.rank(); ++d) ragged.row_bytes *= output.dimension(d);
    ragged.entries = lists.ElementCount();
    ragged.index_bytes = StorageBytes(lists.element_type());
    ragged.index_signed = IsSigned(lists.element_type());
    for (int64_t k = 3; k < 6; ++k) {
      if (i_.operand(k)->shape().element_type() != lists.element_type()) {
        return absl::InvalidArgumentError("its offsets and sizes have different types");
      }
    }
    for (int64_t members : members_) {
      if (ragged.entries % members == 0) continue;
      return absl::InvalidArgumentError(StrCat("its lists have ", ragged.entries,
                                               " entries, the group has ", members, " members"));
    }
    return absl::OkStatus();
  }

  const Instruction& i_;
  const Attributes& attributes_;
  const DeviceAssignment& devices_;
  CollectivePlan plan_;
  std::vector<int64_t> members_;  // of each group
};

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

std::vector<std::string> NumberCollectives(Module& module) {
  std::vector<std::string> names;
  for (Computation* computation : module.computations()) {
    for (Instruction* i : *computation) {
      const bool start = i->opcode() == Opcode::kAllGatherStart ||
                         i->opcode() == Opcode::kAllReduceStart ||
                         i->opcode() == Opcode::kCollectivePermuteStart;
      if (!start && !IsCollective(i->opcode())) continue;
      StringMap map;
      if (const AttrValue* value = i->attributes().Find(Attr::kFrontendAttributes)) {
        map = std::get<StringMap>(*value);
      }
      if (auto written = FindNumber(map); written != map.end()) map.erase(written);
      map.emplace_back(kNumberKey, StrCat(names.size()));
      std::sort(map.begin(), map.end());
      i->mutable_attributes().Set(Attr::kFrontendAttributes, AttrValue(std::move(map)));
      std::string_view op = Name(i->opcode());
      if (start) op.remove_suffix(std::string_view("-start").size());
      names.push_back(StrCat(op, " ", i->name()));
    }
  }
  return names;
}

int64_t CollectiveNumber(const Instruction& collective) {
  const AttrValue* value = collective.attributes().Find(Attr::kFrontendAttributes);
  if (value == nullptr) return -1;
  StringMap map = std::get<StringMap>(*value);
  const auto entry = FindNumber(map);
  int64_t number = -1;
  return entry != map.end() && absl::SimpleAtoi(entry->second, &number) ? number : -1;
}

void ForgetNumbers(Module& module) {
  for (Computation* computation : module.computations()) {
    for (Instruction* i : *computation) {
      AttrValue* value = i->mutable_attributes().Find(Attr::kFrontendAttributes);
      if (value == nullptr) continue;
      auto& map = std::get<StringMap>(*value);
      if (auto entry = FindNumber(map); entry != map.end()) map.erase(entry);
      if (map.empty()) i->mutable_attributes().Remove(Attr::kFrontendAttributes);
    }
  }
}

absl::StatusOr<std::vector<CollectivePlan>> PlanCollectives(const Module& module,
                                                            const std::vector<std::string>& names,
                                                            const DeviceAssignment& devices) {
  std::vector<CollectivePlan> plans(names.size());
  for (const Computation* computation : module.computations()) {
    for (const Instruction* i : *computation) {
      if (!IsCollective(i->opcode())) continue;
      const int64_t number = CollectiveNumber(*i);
      if (number < 0 || number >= static_cast<int64_t>(names.size())) {
        return absl::InternalError(StrCat("a collective without a number: ", i->ToString()));
      }
      absl::StatusOr<CollectivePlan> plan = Planner(*i, names[number], devices).Plan();
      if (!plan.ok()) return plan.status();
      plans[number] = *std::move(plan);
    }
  }
  return plans;
}

}  // namespace assay
