// Checks that instructions that talk to each other agree on groups of devices, channels, starts and
// dones, the order of infeeds, shardings. Documents: operation semantics chapter 15; hlo-format
// 3.6, 3.11, 4.3, 4.5.
#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "spec/ops/collective_groups.h"
#include "spec/verifier/verifier_internal.h"

namespace assay::verifier {
namespace {

template <typename F>
void ForEachInstruction(const Module& module, F visit) {
  for (const Computation* computation : module.computations())
    for (const Instruction* instruction : *computation) visit(*instruction);
}

bool HasAttribute(const OpInfo& info, Attr attr) {
  return std::any_of(info.attributes.begin(), info.attributes.end(),
                     [attr](const AttrSpec& spec) { return spec.attr == attr; });
}

// Ids against the module's counts, where the header gives any.
void CheckDeviceIds(const Instruction& instruction, const ModuleConfig& config, Errors& errors) {
  const OpInfo& info = Info(instruction.opcode());
  const bool groups = HasAttribute(info, Attr::kReplicaGroups);
  if (!groups && !HasAttribute(info, Attr::kSourceTargetPairs)) return;
  const GroupMode mode = GroupModeOf(info.opcode, instruction.attributes());
  if (IdCount(mode, config.replica_count, config.num_partitions) == 1) return;
  const absl::Status status =
      groups ? ProcessGroups(info.opcode, instruction.attributes(), config.replica_count,
                             config.num_partitions)
                   .status()
             : ProcessPairs(instruction.attributes(), config.replica_count, config.num_partitions)
                   .status();
  if (!status.ok()) errors.AddAt(instruction, ToStd(status.message()));
}

void CheckConstrainedLayouts(const Module& module, Errors& errors) {
  const Instruction *constrained = nullptr, *free = nullptr;
  ForEachInstruction(module, [&](const Instruction& instruction) {
    if (instruction.opcode() != Opcode::kAllReduce &&
        instruction.opcode() != Opcode::kAllReduceStart)
      return;
    (instruction.attributes().Flag(Attr::kConstrainLayout) ? constrained : free) = &instruction;
  });
  if (constrained == nullptr || free == nullptr) return;
  errors.AddAt(*constrained, "constrains its layout and ", free->name(),
               " does not; all all-reduces of a module do or none");
}

// ---- Starts and dones.

struct Pair {
  Opcode start, done;
};
constexpr Pair kPairs[] = {
    {Opcode::kAllGatherStart, Opcode::kAllGatherDone},
    {Opcode::kAllReduceStart, Opcode::kAllReduceDone},
    {Opcode::kAsyncStart, Opcode::kAsyncDone},
    {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone},
    {Opcode::kCopyStart, Opcode::kCopyDone},
    {Opcode::kRecv, Opcode::kRecvDone},
    {Opcode::kSend, Opcode::kSendDone},
};

// True of ops that hand an asynchronous value on unchanged.
bool PassesOn(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kOptBarrier:
    case Opcode::kParameter:
      return true;
    default:
      return false;
  }
}

void CheckStart(const Instruction& start, const Pair& pair, Errors& errors) {
  const bool updates = pair.start == Opcode::kAsyncStart;
  for (const Instruction* user : start.users()) {
    const Opcode opcode = user->opcode();
    const bool first = user->operand(0) == &start;
    if (PassesOn(opcode) || (opcode == pair.done && first) ||
        (updates && opcode == Opcode::kAsyncUpdate && first))
      continue;
    errors.AddAt(*user, "uses ", start.name(), ", which only ", Name(pair.done), " may");
  }
  if (start.users().empty() && start.parent()->root() != &start)
    errors.AddAt(start, "has no ", Name(pair.done));
  if (start.users().size() > 1) {
    errors.AddAt(start, "has ", start.users().size(), " users; one ", Name(pair.done),
                 " ends what it starts");
  }
}

void CheckDone(const Instruction& done, const Pair& pair, Errors& errors) {
  const Instruction& from = *done.operand(0);
  const bool updated = pair.start == Opcode::kAsyncStart && from.opcode() == Opcode::kAsyncUpdate;
  if (from.opcode() != pair.start && !updated && !PassesOn(from.opcode())) {
    errors.AddAt(done, "operand 0 (", from.name(), ") is ", Name(from.opcode()), ", want ",
                 Name(pair.start));
    return;
  }
  if (from.opcode() != pair.start) return;
  const Attributes &a = done.attributes(), &b = from.attributes();
  if (!HasAttribute(Info(pair.done), Attr::kChannelId)) return;
  if (a.Has(Attr::kChannelId) && a.Integer(Attr::kChannelId) != b.Integer(Attr::kChannelId)) {
    errors.AddAt(done, "has channel_id ", a.Integer(Attr::kChannelId), ", ", from.name(), " has ",
                 b.Integer(Attr::kChannelId));
  }
  if (a.Flag(Attr::kIsHostTransfer) != b.Flag(Attr::kIsHostTransfer)) {
    errors.AddAt(done, "and ", from.name(), " differ in is_host_transfer");
  }
}

void CheckPairs(const Instruction& instruction, Errors& errors) {
  for (const Pair& pair : kPairs) {
    if (instruction.opcode() == pair.start) CheckStart(instruction, pair, errors);
    if (instruction.opcode() == pair.done) CheckDone(instruction, pair, errors);
  }
}

// A computation has one send and one recv of a channel, and all of a channel move one shape: a loop
// that is entered with a transfer under way has one before it and one inside.
void CheckChannels(const Module& module, Errors& errors) {
  std::map<int64_t, std::pair<const Instruction*, const Instruction*>> channels;
  ForEachInstruction(module, [&](const Instruction& instruction) {
    const bool sends = instruction.opcode() == Opcode::kSend;
    if (!sends && instruction.opcode() != Opcode::kRecv) return;
    if (!instruction.attributes().Has(Attr::kChannelId)) return;
    const int64_t id = instruction.attributes().Integer(Attr::kChannelId);
    auto& [send, recv] = channels[id];
    const Instruction*& end = sends ? send : recv;
    if (end == nullptr) {
      end = &instruction;
    } else if (end->parent() == instruction.parent()) {
      errors.AddAt(instruction, "channel ", id, " already has the ", sends ? "send " : "recv ",
                   end->name());
    } else if (!Compatible(end->shape(), instruction.shape()) ||
               end->attributes().Flag(Attr::kIsHostTransfer) !=
                   instruction.attributes().Flag(Attr::kIsHostTransfer)) {
      errors.AddAt(instruction, "channel ", id, " already has the ", sends ? "send " : "recv ",
                   end->name(), " of ", end->shape().ToString(),
                   "; all of a channel agree in shape and in is_host_transfer");
    }
    if (send == nullptr || recv == nullptr || recv->shape().elements().empty()) return;
    const Shape &sent = send->operand(0)->shape(), &received = recv->shape().elements()[0];
    if (Compatible(sent, received)) return;
    errors.AddAt(instruction, "channel ", id, ": ", send->name(), " sends ", sent.ToString(), ", ",
                 recv->name(), " receives ", received.ToString());
  });
}

// ---- Shardings against shapes.

void CheckLeafSharding(const Instruction& instruction, const Sharding& sharding, const Shape& leaf,
                       Errors& errors) {
  if (!leaf.IsArray()) return;
  if (sharding.kind == Sharding::Kind::kTiled && sharding.DataRank() != leaf.rank()) {
    errors.AddAt(instruction, "the sharding splits ", sharding.DataRank(), " dimensions, ",
                 leaf.ToString(), " has ", leaf.rank());
  }
  if (sharding.kind == Sharding::Kind::kNamed && sharding.dims.has_value() &&
      static_cast<int64_t>(sharding.dims->size()) > leaf.rank()) {
    errors.AddAt(instruction, "the sharding has ", sharding.dims->size(), " dimensions, ",
                 leaf.ToString(), " has ", leaf.rank());
  }
}

void CheckShardingShape(const Instruction& instruction, Errors& errors) {
  const Sharding* sharding = instruction.attributes().GetSharding(Attr::kSharding);
  if (sharding == nullptr) return;
  // Theirs is that of the data.
  if (instruction.opcode() == Opcode::kOutfeed || instruction.opcode() == Opcode::kSend ||
      instruction.opcode() == Opcode::kSendDone)
    return;
  if (sharding->kind != Sharding::Kind::kTuple) {
    if (instruction.shape().IsArray())
      CheckLeafSharding(instruction, *sharding, instruction.shape(), errors);
    return;
  }
  const int64_t leaves = LeafCount(instruction.shape());
  const auto given = static_cast<int64_t>(sharding->elements.size());
  // JAX gives calls without results, like those that print, one entry for their device.
  if (leaves == 0 && given == 1) return;
  if (given != leaves) {
    errors.AddAt(instruction, "the sharding has ", given, " entries for ", leaves, " leaves of ",
                 instruction.shape().ToString());
    return;
  }
  size_t next = 0;
  ForEachLeaf(instruction.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    CheckLeafSharding(instruction, sharding->elements[next++], leaf, errors);
  });
}

}  // namespace

void CheckCommunication(const Module& module, Errors& errors) {
  ForEachInstruction(module, [&](const Instruction& instruction) {
    CheckDeviceIds(instruction, module.config(), errors);
    CheckPairs(instruction, errors);
    CheckShardingShape(instruction, errors);
  });
  CheckConstrainedLayouts(module, errors);
  CheckChannels(module, errors);
}

// ---- Infeeds follow each other by data, tokens or control dependencies, also through the
// computations that hold them. A schedule is an order, too.

void CheckInfeedOrder(const Module& module, Errors& warnings) {
  if (module.config().is_scheduled) return;
  bool any = false;
  ForEachInstruction(module, [&](const Instruction& instruction) {
    any = any || instruction.opcode() == Opcode::kInfeed;
  });
  if (!any) return;
  absl::flat_hash_map<const Computation*, bool> feeds;
  for (const Computation* computation : module.ComputationPostOrder()) {
    // The number of the last infeed that an instruction comes after, itself included; 0: none.
    absl::flat_hash_map<const Instruction*, int64_t> after;
    const Instruction* last = nullptr;
    int64_t count = 0;
    for (const Instruction* instruction : computation->PostOrder()) {
      int64_t latest = 0;
      for (const Instruction* operand : instruction->operands())
        latest = std::max(latest, after[operand]);
      for (const Instruction* predecessor : instruction->control_predecessors())
        latest = std::max(latest, after[predecessor]);
      const bool is_feed = instruction->opcode() == Opcode::kInfeed ||
                           std::any_of(instruction->callees().begin(), instruction->callees().end(),
                                       [&](const Computation* callee) { return feeds[callee]; });
      if (is_feed) {
        if (latest != count) {
          warnings.AddAt(
              *instruction, "nothing orders it after the infeed of ", last->name(),
              "; connect them by a token or data, or either may take the data of the other");
        }
        latest = ++count;
        last = instruction;
      }
      after[instruction] = latest;
    }
    feeds[computation] = count > 0;
  }
}

}  // namespace assay::verifier
