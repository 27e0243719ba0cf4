// Groups and pairs of devices, expanded by mode and checked against the counts of the run.
#include "spec/ops/collective_groups.h"

#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

template <typename... Parts>
absl::Status Invalid(Opcode opcode, const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(Name(opcode), ": ", parts...));
}

std::string_view IdName(GroupMode mode) {
  switch (mode) {
    case GroupMode::kCrossPartition:
      return "partition";
    case GroupMode::kFlattened:
      return "device";
    default:
      return "replica";
  }
}

// The devices that the ids of one group stand for: one process group, or one per index of the other
// axis.
void AddProcessGroups(GroupMode mode, const Int64List& ids, int64_t replicas, int64_t partitions,
                      std::vector<Int64List>& groups) {
  switch (mode) {
    case GroupMode::kCrossReplica:
      for (int64_t p = 0; p < partitions; ++p) {
        for (Int64List& group = groups.emplace_back(); int64_t r : ids)
          group.push_back(r * partitions + p);
      }
      return;
    case GroupMode::kCrossPartition:
      for (int64_t r = 0; r < replicas; ++r) {
        for (Int64List& group = groups.emplace_back(); int64_t p : ids)
          group.push_back(r * partitions + p);
      }
      return;
    case GroupMode::kCrossReplicaAndPartition:
      groups.emplace_back();
      for (int64_t p = 0; p < partitions; ++p) {
        for (int64_t r : ids) groups.back().push_back(r * partitions + p);
      }
      return;
    case GroupMode::kFlattened:
      groups.push_back(ids);
      return;
  }
}

}  // namespace

GroupMode GroupModeOf(Opcode opcode, const Attributes& attributes) {
  const bool channel = attributes.Integer(Attr::kChannelId) > 0;
  if (attributes.Flag(Attr::kUseGlobalDeviceIds)) return GroupMode::kFlattened;
  if (!channel) return GroupMode::kCrossReplica;
  for (const AttrSpec& spec : Info(opcode).attributes) {
    if (spec.attr == Attr::kUseGlobalDeviceIds) return GroupMode::kCrossReplicaAndPartition;
  }
  return GroupMode::kCrossPartition;
}

bool KnowsDevices(Opcode opcode) {
  if (opcode == Opcode::kReplicaId || opcode == Opcode::kPartitionId) return true;
  for (const AttrSpec& spec : Info(opcode).attributes) {
    if (spec.attr == Attr::kReplicaGroups || spec.attr == Attr::kSourceTargetPairs) return true;
  }
  return opcode == Opcode::kSend || opcode == Opcode::kRecv;
}

int64_t IdCount(GroupMode mode, int64_t replicas, int64_t partitions) {
  switch (mode) {
    case GroupMode::kCrossPartition:
      return partitions;
    case GroupMode::kFlattened:
      return replicas * partitions;
    default:
      return replicas;
  }
}

absl::StatusOr<std::vector<Int64List>> ProcessGroups(Opcode opcode, const Attributes& attributes,
                                                     int64_t replicas, int64_t partitions) {
  const GroupMode mode = GroupModeOf(opcode, attributes);
  const int64_t count = IdCount(mode, replicas, partitions);
  std::vector<Int64List> written;
  if (const ReplicaGroups* groups = attributes.Groups(Attr::kReplicaGroups))
    written = groups->Groups();
  if (written.empty()) {
    written.emplace_back();
    for (int64_t id = 0; id < count; ++id) written[0].push_back(id);
  }
  std::vector<bool> seen(static_cast<size_t>(count), false);
  int64_t listed = 0;
  std::vector<Int64List> groups;
  for (const Int64List& ids : written) {
    if (ids.empty()) return Invalid(opcode, "replica_groups has an empty group");
    for (int64_t id : ids) {
      if (id < 0 || id >= count) {
        return Invalid(opcode, "replica_groups names ", IdName(mode), " ", id, ", there are ",
                       count);
      }
      if (seen[id])
        return Invalid(opcode, "replica_groups names ", IdName(mode), " ", id, " twice");
      seen[id] = true;
      ++listed;
    }
    AddProcessGroups(mode, ids, replicas, partitions, groups);
  }
  // Whoever is in no group of a collective-broadcast gets zeros.
  if (listed == count || opcode == Opcode::kCollectiveBroadcast) return groups;
  int64_t missing = 0;
  while (seen[missing]) ++missing;
  return Invalid(opcode, "replica_groups does not name ", IdName(mode), " ", missing, " of ",
                 count);
}

absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ProcessPairs(const Attributes& attributes,
                                                                      int64_t replicas,
                                                                      int64_t partitions) {
  constexpr Opcode kOpcode = Opcode::kCollectivePermute;
  const GroupMode mode = GroupModeOf(kOpcode, attributes);
  const int64_t count = IdCount(mode, replicas, partitions);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const AttrValue* value = attributes.Find(Attr::kSourceTargetPairs);
  const auto* written = value == nullptr ? nullptr : std::get_if<std::vector<Int64List>>(value);
  if (written == nullptr) return Invalid(kOpcode, "source_target_pairs is missing");
  for (const Int64List& pair : *written) {
    if (pair.size() != 2)
      return Invalid(kOpcode, "an entry of source_target_pairs has ", pair.size(),
                     " ids, want a source and a target");
    for (int64_t id : pair) {
      if (id < 0 || id >= count)
        return Invalid(kOpcode, "source_target_pairs names ", IdName(mode), " ", id, ", there are ",
                       count);
    }
    if (mode == GroupMode::kCrossPartition) {
      for (int64_t r = 0; r < replicas; ++r)
        pairs.emplace_back(r * partitions + pair[0], r * partitions + pair[1]);
    } else {
      for (int64_t p = 0; p < partitions; ++p)
        pairs.emplace_back(pair[0] * partitions + p, pair[1] * partitions + p);
    }
  }
  return pairs;
}

bool ShareChannel(const Attributes& a, const Attributes& b) {
  if (!a.Has(Attr::kChannelId) || a.Integer(Attr::kChannelId) <= 0) return false;
  auto agree = [&](Attr attribute) {
    const AttrValue *in_a = a.Find(attribute), *in_b = b.Find(attribute);
    return in_a == nullptr || in_b == nullptr ? in_a == in_b : *in_a == *in_b;
  };
  return agree(Attr::kChannelId) && agree(Attr::kReplicaGroups) &&
         agree(Attr::kUseGlobalDeviceIds) && agree(Attr::kSourceTargetPairs) &&
         agree(Attr::kDimension);
}

std::string DeviceName(int64_t device, int64_t partitions) {
  if (partitions == 1) return StrCat("replica ", device);
  return StrCat("replica ", device / partitions, ", partition ", device % partitions);
}

}  // namespace assay
