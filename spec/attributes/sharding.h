// Lists of devices: groups of a collective and shardings of a value, in the form in which they were
// written. Document: hlo-format chapters 3.6 and 4.2.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace assay {

using Int64List = std::vector<int64_t>;

// No list of devices is longer: text like [1000000,1000000]<=[1000000000000] names more than any
// machine has.
inline constexpr int64_t kMaxDevices = int64_t{1} << 17;

// "[4,2]<=[2,4]T(1,0)": 0, 1, 2, ... in the shape `reshape`, transposed, read in order, in the
// shape `dims`.
struct IotaDevices {
  Int64List dims, reshape, permutation;
  bool operator==(const IotaDevices&) const = default;

  Int64List Expand() const;
};

// "mesh['a'=2,'b'=4]": devices in the shape of the named axes.
struct Mesh {
  struct Axis {
    std::string name;
    int64_t size = 1;
    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> axes;
  // The order of the devices, when it is not ascending: a list or an iota.
  Int64List device_ids;
  IotaDevices iota;
  int64_t maximal_device = -1;  // "maximal_mesh[device_id=3]": this device alone
  bool operator==(const Mesh&) const = default;

  int64_t DeviceCount() const;
  Int64List Devices() const;
};

// "'b'" or the sub-axis "'b':(2)4", which leaves 2 to the parts before it and has size 4.
struct MeshAxis {
  int64_t axis = 0;
  int64_t pre = 0, size = 0;  // size 0: the whole axis
  bool operator==(const MeshAxis&) const = default;
};

// replica_groups of a collective.
struct ReplicaGroups {
  enum class Form : uint8_t { kLists, kIota, kMesh };
  Form form = Form::kLists;
  std::vector<Int64List> lists;
  IotaDevices iota;  // dims: number of groups, size of each
  Mesh mesh;
  std::vector<MeshAxis> axes;
  bool operator==(const ReplicaGroups&) const = default;

  bool empty() const { return form == Form::kLists && lists.empty(); }
  // The groups spelled out. The devices of a mesh that differ only along `axes` are a group.
  std::vector<Int64List> Groups() const;
};

// A sharding says how a value is split over devices: one of the kinds, and beside it the group of
// values that shard alike and the provenance.
struct Sharding {
  enum class Kind : uint8_t {
    kReplicated,
    kManual,
    kUnknown,
    kUnreduced,
    kMaximal,
    kTiled,
    kNamed,
    kTuple
  };
  Kind kind = Kind::kReplicated;

  int64_t device = 0;  // kMaximal

  // kTiled: parts per dimension, then per subgroup; the devices as a list or an iota.
  Int64List tile;
  Int64List devices;
  IotaDevices iota;
  std::vector<Kind> subgroups;  // of the trailing entries of `tile`

  // kNamed.
  struct Dim {
    std::vector<MeshAxis> axes;
    bool open = false;  // may be split further
    bool operator==(const Dim&) const = default;
  };
  Mesh mesh;
  std::optional<std::vector<Dim>> dims;  // there, though empty, when "[]" was written
  // One of the words replicated, manual, unreduced for all axes of the mesh.
  std::optional<Kind> whole;
  std::string reduction;  // of unreduced: "sum", "max", "min"; "" as written without
  std::vector<MeshAxis> replicated, unreduced, manual;

  // Shard like others of the same group: "shard_as 3", "shard_like 3".
  enum class Group : uint8_t { kNone, kAs, kLike };
  Group group = Group::kNone;
  int64_t group_id = 0;
  std::string metadata;  // as written, braces included; "" for none

  std::vector<Sharding> elements;  // kTuple: one per leaf
  bool operator==(const Sharding&) const = default;

  // Dimensions of the value that `tile` splits.
  int64_t DataRank() const { return static_cast<int64_t>(tile.size() - subgroups.size()); }
};

// The metadata of a domain instruction: shardings on the side of the operand and of the users.
struct DomainMetadata {
  Sharding entry, exit;
  bool operator==(const DomainMetadata&) const = default;
};

// OK if the parts fit each other: counts of devices, permutations, axes of the mesh. Readers call
// these on all that they read, so that the functions above need no checks. Errors are
// invalid-argument.
absl::Status CheckReplicaGroups(const ReplicaGroups& groups);
absl::Status CheckSharding(const Sharding& sharding);

}  // namespace assay
