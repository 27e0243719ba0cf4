// Finds the devices that a collective brings together. A device is (replica, partition); its number
// is replica * partitions + partition. Documents: operation semantics 15.1, hlo-format 4.3.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "spec/attributes/attributes.h"
#include "spec/attributes/opcode.h"

namespace assay {

// The things that ids in replica groups and source-target pairs number.
enum class GroupMode : uint8_t {
  kCrossReplica,              // replicas; one process group per partition
  kCrossPartition,            // partitions; one process group per replica
  kCrossReplicaAndPartition,  // replicas; a group has all their partitions
  kFlattened,                 // devices
};
GroupMode GroupModeOf(Opcode opcode, const Attributes& attributes);

// True of ops that name devices or tell a device its own number: a program without them does the
// same wherever it runs.
bool KnowsDevices(Opcode opcode);

// The number of ids in a mode.
int64_t IdCount(GroupMode mode, int64_t replicas, int64_t partitions);

// The devices of each process group in the order that counts for the op. Errors say which id is
// out of range, listed twice, or missing where every id must be there.
absl::StatusOr<std::vector<Int64List>> ProcessGroups(Opcode opcode, const Attributes& attributes,
                                                     int64_t replicas, int64_t partitions);

// (source, target) devices of a collective-permute.
absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ProcessPairs(const Attributes& attributes,
                                                                      int64_t replicas,
                                                                      int64_t partitions);

// True if two collectives of one opcode are one to the devices that meet in them: they share a
// channel, so that some devices may come to the one and others to the other, and agree in what else
// says who meets whom. Each still combines or moves what it is given as it says itself.
bool ShareChannel(const Attributes& a, const Attributes& b);

// "replica 1", or "replica 1, partition 0" where there are partitions.
std::string DeviceName(int64_t device, int64_t partitions);

}  // namespace assay
