// Finds the pattern, groups it by channel, proves equal values, and combines.
#include "optimized/passes/collectives/all_reduce_cross_combiner.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "spec/ops/collective_groups.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

bool IsSum(const Instruction& inst) {
  return inst.opcode() == Opcode::kAllReduce && inst.operand_count() == 1 && IsPlain(inst) &&
         RecognisedCombiner(inst.callee()) == Opcode::kAdd &&
         !IsComplex(inst.shape().element_type());
}
int64_t ChannelOf(const Instruction& inst) { return inst.attributes().Integer(Attr::kChannelId); }

bool MovesAlone(Opcode opcode) {
  return opcode == Opcode::kBitcast || opcode == Opcode::kReshape || opcode == Opcode::kTranspose;
}
bool IsSumOfTwo(Opcode opcode) { return opcode == Opcode::kAdd || opcode == Opcode::kSubtract; }

// The channels over partitions, in either form.
class Channels {
 public:
  explicit Channels(const Module& module) : replicas_(module.config().replica_count) {
    std::map<int64_t, std::vector<const Instruction*>> by_channel;
    for (const Computation* computation : module.computations()) {
      for (const Instruction* inst : *computation) {
        if (inst->opcode() != Opcode::kAllReduce || ChannelOf(*inst) <= 0) continue;
        by_channel[ChannelOf(*inst)].push_back(inst);
      }
    }
    for (const auto& [channel, members] : by_channel) {
      last_ = std::max(last_, channel);
      const int64_t partitions = Partitions(module, members);
      if (partitions > 1 && std::all_of(members.begin(), members.end(), [&](const Instruction* m) {
            return IsSum(*m) && SumsOverPartitions(*m, partitions);
          })) {
        partitions_[channel] = partitions;
        if (members.size() > 1) mpmd_.insert(channel);
      }
    }
  }

  // The number of partitions that `inst` is a sum over; 0 if it is no such sum.
  int64_t PartitionsOf(const Instruction& inst) const {
    if (inst.opcode() != Opcode::kAllReduce) return 0;
    const auto at = partitions_.find(ChannelOf(inst));
    return at == partitions_.end() ? 0 : at->second;
  }
  bool IsMpmd(int64_t channel) const { return mpmd_.contains(channel); }
  int64_t NewChannel() { return ++last_; }

 private:
  static int64_t Partitions(const Module& module, absl::Span<const Instruction* const> members) {
    if (members.size() == 1) return module.config().num_partitions;
    if (module.config().num_partitions != 1) return 0;  // both forms at once
    std::set<int64_t> devices;
    for (const Instruction* member : members) {
      const Sharding* sharding = member->attributes().GetSharding(Attr::kSharding);
      if (sharding == nullptr || sharding->kind != Sharding::Kind::kMaximal) return 0;
      devices.insert(sharding->device);
    }
    return devices.size() == members.size() ? static_cast<int64_t>(members.size()) : 0;
  }

  // Every group is all partitions of one replica.
  bool SumsOverPartitions(const Instruction& inst, int64_t partitions) const {
    const auto groups = ProcessGroups(Opcode::kAllReduce, inst.attributes(), replicas_, partitions);
    if (!groups.ok()) return false;
    for (Int64List group : *groups) {
      std::sort(group.begin(), group.end());
      const int64_t first = group.empty() ? -1 : group.front();
      if (static_cast<int64_t>(group.size()) != partitions || first % partitions != 0 ||
          group.back() != first + partitions - 1) {
        return false;
      }
    }
    return true;
  }

  int64_t replicas_;
  int64_t last_ = 0;
  std::map<int64_t, int64_t> partitions_;
  std::set<int64_t> mpmd_;
};

// A sum over replicas with all that leads to it from sums over partitions.
struct Pattern {
  Instruction* over_replicas = nullptr;
  std::vector<Instruction*> over_partitions;
  std::vector<Instruction*> others;  // what is added, or taken off, on the way
  int64_t partitions = 0;

  std::set<int64_t> ChannelSet() const {
    std::set<int64_t> set;
    for (const Instruction* inst : over_partitions) set.insert(ChannelOf(*inst));
    return set;
  }
};

bool Leads(const Instruction* value, const Channels& channels) {
  if (channels.PartitionsOf(*value) > 0) return true;
  if (MovesAlone(value->opcode())) return Leads(value->operand(0), channels);
  if (!IsSumOfTwo(value->opcode())) return false;
  return Leads(value->operand(0), channels) || Leads(value->operand(1), channels);
}

// False: something on the way has other users, or the numbers of partitions differ.
bool Collect(Instruction* value, const Channels& channels, Pattern& pattern) {
  if (!value->HasOneUse() || value == value->parent()->root() || !IsPlain(*value)) return false;
  if (const int64_t partitions = channels.PartitionsOf(*value); partitions > 0) {
    if (pattern.partitions != 0 && pattern.partitions != partitions) return false;
    pattern.partitions = partitions;
    pattern.over_partitions.push_back(value);
    return true;
  }
  for (Instruction* operand : value->operands()) {
    if (!Leads(operand, channels)) {
      pattern.others.push_back(operand);
    } else if (!Collect(operand, channels, pattern)) {
      return false;
    }
  }
  return true;
}

// Has the same value on every partition, by what is visible here.
bool IsSameOnPartitions(const Instruction* inst, const Channels& channels, const Purity& purity,
                        int depth = 0) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth) return false;
  if (channels.PartitionsOf(*inst) > 0 && !channels.IsMpmd(ChannelOf(*inst))) return true;
  switch (inst->opcode()) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kReplicaId:
      return true;
    case Opcode::kParameter: {
      const Sharding* sharding = inst->attributes().GetSharding(Attr::kSharding);
      return inst->parent() == inst->parent()->parent()->entry() && sharding != nullptr &&
             sharding->kind == Sharding::Kind::kReplicated;
    }
    case Opcode::kPartitionId:
      return false;
    default:
      return inst->callees().empty() && inst->operand_count() > 0 && purity.IsPure(*inst) &&
             std::all_of(inst->operands().begin(), inst->operands().end(),
                         [&](const Instruction* operand) {
                           return IsSameOnPartitions(operand, channels, purity, depth + 1);
                         });
  }
}

// The code of two partitions does the same: the same operations, whose leaves are sums on the same
// channel, equal constants or the same instruction.
bool DoTheSame(const Instruction* a, const Instruction* b, const Channels& channels,
               const Purity& purity, int depth = 0) {
  constexpr int kMaxDepth = 32;
  if (a == b) return true;
  if (depth > kMaxDepth || a->opcode() != b->opcode() || !(a->shape() == b->shape())) return false;
  if (channels.PartitionsOf(*a) > 0) return ChannelOf(*a) == ChannelOf(*b);
  if (a->opcode() == Opcode::kConstant) return SameValue(a, b);
  if (a->operand_count() == 0 && a->opcode() != Opcode::kIota) return false;
  const auto without_place = [](const Instruction* inst) {
    Attributes attributes = inst->attributes();
    attributes.Remove(Attr::kSharding);
    attributes.Remove(Attr::kMetadata);
    return attributes;
  };
  if (!purity.IsPure(*a) || !a->callees().empty() || a->operand_count() != b->operand_count() ||
      !(without_place(a) == without_place(b))) {
    return false;
  }
  for (int64_t i = 0; i < a->operand_count(); ++i) {
    if (!DoTheSame(a->operand(i), b->operand(i), channels, purity, depth + 1)) return false;
  }
  return true;
}

bool SameGroups(const Instruction& a, const Instruction& b) {
  const ReplicaGroups* x = a.attributes().Groups(Attr::kReplicaGroups);
  const ReplicaGroups* y = b.attributes().Groups(Attr::kReplicaGroups);
  return x == y || (x != nullptr && y != nullptr && *x == *y);
}

bool MayDivide(const Pattern& pattern) {
  const bool is_power_of_two = (pattern.partitions & (pattern.partitions - 1)) == 0;
  return std::all_of(pattern.others.begin(), pattern.others.end(), [&](const Instruction* other) {
    return IsFloat(other->shape().element_type()) && is_power_of_two;
  });
}

// Without the sums over partitions.
Instruction* Combined(Instruction* value, const Channels& channels, int64_t partitions) {
  Computation* computation = value->parent();
  if (channels.PartitionsOf(*value) > 0) return value->operand(0);
  if (!Leads(value, channels)) {
    Instruction* divisor = AddSplat(computation, value->shape(),
                                    AddScalarFloat(computation, value->shape().element_type(),
                                                   static_cast<double>(partitions)));
    return computation->Add(Opcode::kDivide, value->shape(), {value, divisor});
  }
  std::vector<Instruction*> operands;
  for (Instruction* operand : value->operands()) {
    operands.push_back(Combined(operand, channels, partitions));
  }
  return computation->Add(value->opcode(), value->shape(), operands, value->attributes(), {},
                          value->name());
}

bool RewriteGroup(absl::Span<const Pattern> patterns, Channels& channels, Gates& gates) {
  if (!gates.Allow(DecisionKind::kRewrite, "combine-all-reduces", patterns[0].over_replicas)) {
    return false;
  }
  const int64_t channel = channels.NewChannel();
  for (const Pattern& pattern : patterns) {
    Instruction* old = pattern.over_replicas;
    // With a channel, groups of replicas mean all partitions of these replicas.
    Attributes attributes = old->attributes();
    attributes.Set(Attr::kChannelId, AttrValue(channel));
    Instruction* all = old->parent()->Add(Opcode::kAllReduce, old->shape(),
                                          {Combined(old->operand(0), channels, pattern.partitions)},
                                          attributes, old->callees(), old->name());
    old->ReplaceAllUsesWith(all);
    // Collectives are never dead by themselves: what was summed over partitions goes by name.
    old->parent()->Remove(old);
  }
  return true;
}

// Operations that nothing needs any more, the sums over partitions with them.
void RemoveOld(Instruction* value, const Channels& channels) {
  if (!value->users().empty() || !Leads(value, channels)) return;
  const std::vector<Instruction*> operands(value->operands().begin(), value->operands().end());
  const bool is_sum = channels.PartitionsOf(*value) > 0;
  value->parent()->Remove(value);
  if (is_sum) return;
  for (Instruction* operand : operands) RemoveOld(operand, channels);
}

}  // namespace

absl::StatusOr<bool> AllReduceCrossCombiner::Run(Module& module, PassContext& context) {
  const Purity purity(module);
  Channels channels(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    std::map<std::set<int64_t>, std::vector<Pattern>> by_channels;
    for (Instruction* inst : computation->InPostOrder()) {
      if (!IsSum(*inst) || ChannelOf(*inst) > 0 || !Leads(inst->operand(0), channels)) continue;
      if (IsFloat(inst->shape().element_type()) && !context.options.fast_math) continue;
      Pattern pattern{.over_replicas = inst};
      if (!Collect(inst->operand(0), channels, pattern) || !MayDivide(pattern)) continue;
      by_channels[pattern.ChannelSet()].push_back(std::move(pattern));
    }
    for (const auto& [set, patterns] : by_channels) {
      const bool is_mpmd = channels.IsMpmd(*set.begin());
      // All members of every channel lead here, or none is touched.
      const auto members = static_cast<int64_t>(patterns.size());
      if (members != (is_mpmd ? patterns[0].partitions : 1) ||
          std::any_of(set.begin(), set.end(),
                      [&](int64_t channel) { return channels.IsMpmd(channel) != is_mpmd; })) {
        continue;
      }
      bool proved = true;
      for (const Pattern& pattern : patterns) {
        proved &= pattern.over_partitions.size() == set.size();
        if (is_mpmd) {
          proved &= DoTheSame(pattern.over_replicas->operand(0),
                              patterns[0].over_replicas->operand(0), channels, purity) &&
                    SameGroups(*pattern.over_replicas, *patterns[0].over_replicas);
        } else {
          proved &= std::all_of(pattern.others.begin(), pattern.others.end(),
                                [&](const Instruction* other) {
                                  return IsSameOnPartitions(other, channels, purity);
                                });
        }
      }
      if (!proved) continue;
      std::vector<Instruction*> old;
      for (const Pattern& pattern : patterns) old.push_back(pattern.over_replicas->operand(0));
      if (!RewriteGroup(patterns, channels, context.gates)) continue;
      for (Instruction* value : old) RemoveOld(value, channels);
      changed = true;
    }
  }
  return changed;
}

}  // namespace assay
