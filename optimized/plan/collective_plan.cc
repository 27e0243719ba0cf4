// Works out who sends what to whom in each collective, and checks that sizes fit.
#include "optimized/plan/collective_plan.h"

#include <optional>

#include "optimized/passes/collectives/collective_numbering.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/collective_groups.h"

namespace assay {
namespace {

int64_t Bytes(const Shape& shape) {
  return shape.ElementCount() * StorageBytes(shape.element_type());
}

const Shape& ResultShape(const Instruction& instruction, int64_t k) {
  return instruction.shape().IsTuple() ? instruction.shape().elements()[k] : instruction.shape();
}

class Planner {
 public:
  Planner(const Instruction& instruction, std::string name, const DeviceAssignment& devices)
      : collective_(instruction), attributes_(instruction.attributes()), devices_(devices) {
    plan_.meeting.name = std::move(name);
  }

  absl::StatusOr<CollectivePlan> Plan() {
    const auto count = static_cast<size_t>(devices_.replicas * devices_.partitions);
    plan_.meeting.sources.resize(count);
    plan_.meeting.readers.resize(count);
    plan_.position.resize(count, 0);
    plan_.operand_count = collective_.operand_count();
    for (const Instruction* operand : collective_.operands()) {
      plan_.meeting.operand_bytes.push_back(Bytes(operand->shape()));
    }
    plan_.kind = KindOf();
    absl::Status status =
        collective_.opcode() == Opcode::kCollectivePermute ? PlanPairs() : PlanGroups();
    if (status.ok()) status = PlanArrays();
    if (status.ok()) return std::move(plan_);
    return MakeError(ErrorClass::kRejected,
                     StrCat("cpu: ", plan_.meeting.name, ": ", ToStd(status.message())));
  }

 private:
  using Kind = CollectivePlan::Kind;

  Kind KindOf() const {
    switch (collective_.opcode()) {
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
    ASSAY_ASSIGN_OR_RETURN(const auto pairs,
                           ProcessPairs(attributes_, devices_.replicas, devices_.partitions));
    for (const auto& [source, target] : pairs) {
      plan_.meeting.sources[target].push_back(source);
      plan_.meeting.readers[source].push_back(target);
    }
    return absl::OkStatus();
  }

  absl::Status PlanGroups() {
    ASSAY_ASSIGN_OR_RETURN(
        const auto groups,
        ProcessGroups(collective_.opcode(), attributes_, devices_.replicas, devices_.partitions));
    for (const Int64List& ids : groups) {
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

  // The sizes decide how much the runtime reads and writes, so they must fit every group.
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
    const int64_t results =
        collective_.operand_count() - (plan_.kind == Kind::kTakeFromRoot ? 1 : 0);
    for (int64_t k = 0; k < results; ++k) {
      const Shape &from = collective_.operand(k)->shape(), &to = ResultShape(collective_, k);
      CollectivePlan::Array& array = plan_.arrays.emplace_back();
      array.element = StorageBytes(from.element_type());
      array.row = array.block = Bytes(from);
      if (attributes_.Has(Attr::kDimension)) {
        ASSAY_RETURN_IF_ERROR(PlanBlocks(from, to, array));
      }
    }
    if (plan_.kind != Kind::kExchangeOperands) return absl::OkStatus();
    return RequireMembers(collective_.operand_count(), "its operands are");
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
    const Shape &input = collective_.operand(0)->shape(), &output = collective_.operand(1)->shape();
    const Shape& lists = collective_.operand(2)->shape();
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
      if (collective_.operand(k)->shape().element_type() != lists.element_type()) {
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

  const Instruction& collective_;
  const Attributes& attributes_;
  const DeviceAssignment& devices_;
  CollectivePlan plan_;
  std::vector<int64_t> members_;  // of each group
};

// True if each of two collectives can read what devices lay out for the other.
bool LayOutAlike(const CollectivePlan& a, const CollectivePlan& b) {
  if (a.kind != b.kind || a.operand_count != b.operand_count || a.arrays.size() != b.arrays.size())
    return false;
  for (size_t k = 0; k < a.arrays.size(); ++k) {
    const CollectivePlan::Array &x = a.arrays[k], &y = b.arrays[k];
    if (x.outer != y.outer || x.row != y.row || x.block != y.block || x.element != y.element)
      return false;
  }
  return a.kind != CollectivePlan::Kind::kRagged;
}

// Gives collectives that share a channel one place to meet, that of the first.
void JoinChannels(absl::Span<const Instruction* const> collectives,
                  std::vector<CollectivePlan>& plans) {
  for (size_t k = 0; k < plans.size(); ++k) {
    plans[k].place = static_cast<int64_t>(k);
    for (size_t first = 0; first < k && collectives[k] != nullptr; ++first) {
      if (collectives[first] == nullptr ||
          collectives[first]->opcode() != collectives[k]->opcode() ||
          !ShareChannel(collectives[first]->attributes(), collectives[k]->attributes()) ||
          !LayOutAlike(plans[first], plans[k]))
        continue;
      plans[k].place = static_cast<int64_t>(first);
      break;
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<CollectivePlan>> PlanCollectives(const Module& module,
                                                            const DeviceAssignment& devices) {
  std::vector<CollectivePlan> plans;
  std::vector<const Instruction*> collectives;  // by number
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (!IsCollective(instruction->opcode())) continue;
      std::optional<CollectiveTag> tag = TagOf(*instruction);
      if (!tag || tag->number < 0) {
        return absl::InternalError(
            StrCat("a collective without a number: ", instruction->ToString()));
      }
      ASSAY_ASSIGN_OR_RETURN(CollectivePlan plan,
                             Planner(*instruction, std::move(tag->name), devices).Plan());
      const auto number = static_cast<size_t>(tag->number);
      if (plans.size() <= number) {
        plans.resize(number + 1);
        collectives.resize(number + 1);
      }
      plans[number] = std::move(plan);
      collectives[number] = instruction;
    }
  }
  JoinChannels(collectives, plans);
  return plans;
}

}  // namespace assay
