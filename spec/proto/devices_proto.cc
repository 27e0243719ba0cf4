// Shardings and replica groups. Document: hlo-proto chapters 5 and 6.
#include <algorithm>
#include <array>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/annotation_text.h"
#include "spec/proto/shape_proto.h"
#include "spec/proto/text_cursor.h"

namespace assay::proto {
namespace {

using Kind = Sharding::Kind;

// OpSharding.type of each Kind, in the order of the enumerators. A named sharding is of the type
// "other" beside its message.
constexpr int kTuple = 2, kOther = 3;
struct KindRow {
  Kind kind;
  int type;
};
constexpr KindRow kKinds[] = {
    {Kind::kReplicated, 0}, {Kind::kManual, 4},     {Kind::kUnknown, 5},    {Kind::kUnreduced, 6},
    {Kind::kMaximal, 1},    {Kind::kTiled, kOther}, {Kind::kNamed, kOther}, {Kind::kTuple, kTuple},
};
constexpr bool EveryKindHasItsRow() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].kind != static_cast<Kind>(i)) return false;
  }
  return std::size(kKinds) == static_cast<size_t>(Kind::kTuple) + 1;
}
static_assert(EveryKindHasItsRow());

int TypeOf(Kind kind) { return kKinds[static_cast<size_t>(kind)].type; }

absl::StatusOr<Kind> KindOf(int type) {
  for (const KindRow& row : kKinds) {
    if (row.type == type) return row.kind;
  }
  return absl::InvalidArgumentError(StrCat("no sharding has the type ", type));
}

template <typename Proto>
void IotaToProto(const IotaDevices& iota, Proto* proto) {
  FromList(iota.reshape, proto->mutable_iota_reshape_dims());
  // Text leaves the permutation of one dimension out.
  FromList(iota.permutation.empty() ? Int64List{0} : iota.permutation,
           proto->mutable_iota_transpose_perm());
}

template <typename Proto>
IotaDevices IotaFromProto(Int64List dims, const Proto& proto) {
  IotaDevices iota{std::move(dims), ToList(proto.iota_reshape_dims()),
                   ToList(proto.iota_transpose_perm())};
  if (iota.reshape.size() == 1) iota.permutation.clear();
  return iota;
}

void MeshToProto(const Mesh& mesh, MeshProto* proto) {
  if (mesh.maximal_device >= 0) {
    proto->add_device_ids(mesh.maximal_device);
    return;
  }
  for (const Mesh::Axis& axis : mesh.axes) {
    proto::MeshAxis* one = proto->add_axes();
    one->set_name(axis.name);
    one->set_size(axis.size);
  }
  FromList(mesh.device_ids, proto->mutable_device_ids());
  if (mesh.iota.reshape.empty()) return;
  FromList(mesh.iota.reshape, proto->mutable_iota_transform()->mutable_reshape_dims());
  FromList(mesh.iota.permutation, proto->mutable_iota_transform()->mutable_transpose_perm());
}

Mesh MeshFromProto(const MeshProto& proto) {
  Mesh mesh;
  if (proto.axes_size() == 0 && proto.device_ids_size() == 1) {
    mesh.maximal_device = proto.device_ids(0);
    return mesh;
  }
  for (const proto::MeshAxis& axis : proto.axes()) {
    mesh.axes.push_back({axis.name(), axis.size()});
    mesh.iota.dims.push_back(axis.size());
  }
  mesh.device_ids = ToList(proto.device_ids());
  mesh.iota.reshape = ToList(proto.iota_transform().reshape_dims());
  mesh.iota.permutation = ToList(proto.iota_transform().transpose_perm());
  if (mesh.iota.reshape.empty()) mesh.iota = IotaDevices();
  return mesh;
}

template <typename Repeated>
void AxesToProto(const std::vector<assay::MeshAxis>& axes, Repeated* repeated) {
  for (const assay::MeshAxis& axis : axes) {
    AxisRefProto* one = repeated->Add();
    one->set_mesh_axis_index(axis.axis);
    if (axis.size == 0) continue;
    one->mutable_sub_axis_info()->set_pre_size(axis.pre);
    one->mutable_sub_axis_info()->set_size(axis.size);
  }
}

template <typename Repeated>
std::vector<assay::MeshAxis> AxesFromProto(const Repeated& repeated) {
  std::vector<assay::MeshAxis> axes;
  for (const AxisRefProto& one : repeated) {
    axes.push_back(
        {one.mesh_axis_index(), one.sub_axis_info().pre_size(), one.sub_axis_info().size()});
  }
  return axes;
}

constexpr std::array<std::string_view, 3> kReductions = {"sum", "max", "min"};

// The text has a word for all axes of the mesh; the message names them.
std::vector<assay::MeshAxis> AllAxes(const Mesh& mesh) {
  std::vector<assay::MeshAxis> all(mesh.axes.size());
  for (size_t i = 0; i < all.size(); ++i) all[i].axis = static_cast<int64_t>(i);
  return all;
}

// The kinds that lists of axes say, each with its list in the sharding and in the message.
struct AxesRow {
  Kind kind;
  std::vector<assay::MeshAxis> Sharding::* axes;
  google::protobuf::RepeatedPtrField<AxisRefProto>* (NamedShardingProto::*mutable_proto)();
  const google::protobuf::RepeatedPtrField<AxisRefProto>& (NamedShardingProto::*proto)() const;
};
constexpr AxesRow kAxes[] = {
    {Kind::kReplicated, &Sharding::replicated, &NamedShardingProto::mutable_replicated_axes,
     &NamedShardingProto::replicated_axes},
    {Kind::kUnreduced, &Sharding::unreduced, &NamedShardingProto::mutable_unreduced_axes,
     &NamedShardingProto::unreduced_axes},
    {Kind::kManual, &Sharding::manual, &NamedShardingProto::mutable_manual_axes,
     &NamedShardingProto::manual_axes},
};

void NamedToProto(const Sharding& sharding, NamedShardingProto* proto) {
  MeshToProto(sharding.mesh, proto->mutable_mesh());
  if (sharding.dims.has_value()) {
    for (const Sharding::Dim& dim : *sharding.dims) {
      DimSharding* one = proto->add_dim_shardings();
      AxesToProto(dim.axes, one->mutable_axes());
      one->set_is_closed(!dim.open);
    }
  }
  for (const AxesRow& row : kAxes) {
    AxesToProto(sharding.*row.axes, (proto->*row.mutable_proto)());
    if (sharding.whole == row.kind) {
      AxesToProto(AllAxes(sharding.mesh), (proto->*row.mutable_proto)());
    }
  }
  for (size_t i = 0; i < kReductions.size(); ++i) {
    if (kReductions[i] == sharding.reduction) proto->set_reduction_op(static_cast<int>(i));
  }
}

absl::Status NamedFromProto(const NamedShardingProto& proto, Sharding* sharding) {
  sharding->kind = Kind::kNamed;
  sharding->mesh = MeshFromProto(proto.mesh());
  if (proto.dim_shardings_size() > 0) sharding->dims.emplace();
  for (const DimSharding& dim : proto.dim_shardings()) {
    sharding->dims->push_back({AxesFromProto(dim.axes()), !dim.is_closed()});
  }
  if (proto.reduction_op() < 0 || proto.reduction_op() > 2) {
    return absl::InvalidArgumentError(StrCat("no reduction has the number ", proto.reduction_op()));
  }
  if (proto.reduction_op() > 0) sharding->reduction = kReductions[proto.reduction_op()];
  const std::vector<assay::MeshAxis> all = AllAxes(sharding->mesh);
  const bool may_be_whole = !sharding->dims.has_value() && !all.empty();
  for (const AxesRow& row : kAxes) {
    std::vector<assay::MeshAxis> axes = AxesFromProto((proto.*row.proto)());
    if (may_be_whole && !sharding->whole.has_value() && axes == all) {
      sharding->whole = row.kind;
    } else {
      sharding->*row.axes = std::move(axes);
    }
  }
  return absl::OkStatus();
}

// {...} or {{...}, {...}}: the list is told by its second brace.
absl::Status MetadataListToProto(std::string_view text, OpSharding* proto) {
  const size_t second = text.find_first_not_of(" \n\t", 1);
  if (second == std::string_view::npos || text[second] != '{') {
    return ParseMetadata(text, proto->add_metadata());
  }
  TextCursor list("sharding metadata", text);
  ASSAY_RETURN_IF_ERROR(list.Expect('{'));
  while (!list.Accept('}')) {
    list.Accept(',');
    ASSAY_ASSIGN_OR_RETURN(std::string_view one, list.Balanced());
    ASSAY_RETURN_IF_ERROR(ParseMetadata(one, proto->add_metadata()));
  }
  return list.ExpectEnd();
}

std::string MetadataListText(const OpSharding& proto) {
  if (proto.metadata_size() == 0) return "";
  if (proto.metadata_size() == 1) return MetadataText(proto.metadata(0));
  std::string list;
  for (const OpMetadata& one : proto.metadata()) {
    const std::string text = MetadataText(one);
    StrAppend(&list, list.empty() ? "" : ", ", text.empty() ? "{}" : text);
  }
  return StrCat("{", list, "}");
}

}  // namespace

absl::Status ShardingToProto(const Sharding& sharding, OpSharding* proto) {
  proto->set_type(TypeOf(sharding.kind));
  if (sharding.kind == Kind::kTuple) {
    for (const Sharding& element : sharding.elements) {
      ASSAY_RETURN_IF_ERROR(ShardingToProto(element, proto->add_tuple_shardings()));
    }
    return absl::OkStatus();
  }
  if (sharding.kind == Kind::kMaximal) {
    proto->add_tile_assignment_dimensions(1);
    proto->add_tile_assignment_devices(sharding.device);
  } else if (sharding.kind == Kind::kNamed) {
    NamedToProto(sharding, proto->mutable_named_sharding());
  } else if (sharding.kind == Kind::kTiled) {
    FromList(sharding.tile, proto->mutable_tile_assignment_dimensions());
    if (sharding.iota.reshape.empty()) {
      FromList(sharding.devices, proto->mutable_tile_assignment_devices());
    } else {
      IotaToProto(sharding.iota, proto);
    }
    if (sharding.subgroups == std::vector<Kind>{Kind::kReplicated}) {
      proto->set_replicate_on_last_tile_dim(true);
    } else {
      for (Kind kind : sharding.subgroups) proto->add_last_tile_dims(TypeOf(kind));
    }
  }
  if (sharding.group != Sharding::Group::kNone) {
    proto->set_is_shard_group(true);
    proto->set_shard_group_type(sharding.group == Sharding::Group::kAs ? 0 : 1);
    proto->set_shard_group_id(sharding.group_id);
  }
  if (sharding.metadata.empty()) return absl::OkStatus();
  return MetadataListToProto(sharding.metadata, proto);
}

absl::StatusOr<Sharding> ShardingFromProto(const OpSharding& proto) {
  Sharding sharding;
  ASSAY_ASSIGN_OR_RETURN(sharding.kind, KindOf(proto.type()));
  if (sharding.kind == Kind::kTuple) {
    for (const OpSharding& element : proto.tuple_shardings()) {
      if (element.type() == kTuple) {
        return absl::InvalidArgumentError("a tuple of shardings holds another");
      }
      ASSAY_ASSIGN_OR_RETURN(sharding.elements.emplace_back(), ShardingFromProto(element));
    }
    return sharding;
  }
  if (proto.has_named_sharding()) {
    ASSAY_RETURN_IF_ERROR(NamedFromProto(proto.named_sharding(), &sharding));
  } else if (sharding.kind == Kind::kMaximal) {
    if (proto.tile_assignment_devices_size() != 1) {
      return absl::InvalidArgumentError("a maximal sharding names one device");
    }
    sharding.device = proto.tile_assignment_devices(0);
  } else if (proto.type() == kOther) {
    sharding.kind = Kind::kTiled;
    sharding.tile = ToList(proto.tile_assignment_dimensions());
    sharding.devices = ToList(proto.tile_assignment_devices());
    if (proto.iota_reshape_dims_size() > 0) sharding.iota = IotaFromProto(sharding.tile, proto);
    for (int type : proto.last_tile_dims()) {
      ASSAY_ASSIGN_OR_RETURN(sharding.subgroups.emplace_back(), KindOf(type));
    }
    if (proto.replicate_on_last_tile_dim()) sharding.subgroups = {Kind::kReplicated};
  }
  if (proto.is_shard_group()) {
    sharding.group = proto.shard_group_type() == 0 ? Sharding::Group::kAs : Sharding::Group::kLike;
    sharding.group_id = proto.shard_group_id();
  }
  sharding.metadata = MetadataListText(proto);
  ASSAY_RETURN_IF_ERROR(CheckSharding(sharding));
  return sharding;
}

absl::Status ReplicaGroupsToProto(const ReplicaGroups& groups, HloInstructionProto* proto) {
  switch (groups.form) {
    case ReplicaGroups::Form::kLists:
      for (const Int64List& list : groups.lists) {
        FromList(
            list,
            proto->mutable_collective_device_list()->add_replica_groups()->mutable_replica_ids());
        // Older readers know only this field.
        FromList(list, proto->add_replica_groups()->mutable_replica_ids());
      }
      return absl::OkStatus();
    case ReplicaGroups::Form::kIota: {
      IotaReplicaGroupListProto* list = proto->mutable_iota_collective_device_list();
      if (groups.iota.dims.size() != 2) {
        return absl::InvalidArgumentError("replica groups are not [groups,devices]<=[...]");
      }
      list->set_num_replica_groups(groups.iota.dims[0]);
      list->set_num_devices_per_group(groups.iota.dims[1]);
      IotaToProto(groups.iota, list);
      return absl::OkStatus();
    }
    case ReplicaGroups::Form::kMesh:
      MeshToProto(groups.mesh, proto->mutable_mesh_axes_replica_group_list()->mutable_mesh());
      AxesToProto(groups.axes, proto->mutable_mesh_axes_replica_group_list()->mutable_axes());
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<ReplicaGroups> ReplicaGroupsFromProto(const HloInstructionProto& proto) {
  ReplicaGroups groups;
  if (proto.has_mesh_axes_replica_group_list()) {
    groups.form = ReplicaGroups::Form::kMesh;
    groups.mesh = MeshFromProto(proto.mesh_axes_replica_group_list().mesh());
    groups.axes = AxesFromProto(proto.mesh_axes_replica_group_list().axes());
  } else if (proto.has_iota_collective_device_list()) {
    const IotaReplicaGroupListProto& list = proto.iota_collective_device_list();
    groups.form = ReplicaGroups::Form::kIota;
    groups.iota = IotaFromProto({list.num_replica_groups(), list.num_devices_per_group()}, list);
  } else {
    const auto& lists = proto.has_collective_device_list()
                            ? proto.collective_device_list().replica_groups()
                            : proto.replica_groups();
    for (const ReplicaGroup& list : lists) groups.lists.push_back(ToList(list.replica_ids()));
  }
  ASSAY_RETURN_IF_ERROR(CheckReplicaGroups(groups));
  return groups;
}

}  // namespace assay::proto
