// Replica groups and shardings as text: lists, iotas, meshes and their axes.
#include "spec/attributes/sharding_text.h"

#include "spec/base/escape.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

void AppendList(std::string& out, char open, const Int64List& numbers, char close) {
  if (open != '\0') out += open;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    StrAppend(&out, numbers[i]);
  }
  if (close != '\0') out += close;
}

void AppendIota(std::string& out, const IotaDevices& iota) {
  AppendList(out, '[', iota.reshape, ']');
  if (iota.permutation.empty()) return;
  out += 'T';
  AppendList(out, '(', iota.permutation, ')');
}

void AppendMesh(std::string& out, const Mesh& mesh) {
  if (mesh.maximal_device >= 0) {
    StrAppend(&out, "maximal_mesh[device_id=", mesh.maximal_device, "]");
    return;
  }
  out += "mesh[";
  for (size_t i = 0; i < mesh.axes.size(); ++i) {
    StrAppend(&out, i > 0 ? "," : "", "'");
    AppendEscaped(out, mesh.axes[i].name);
    StrAppend(&out, "'=", mesh.axes[i].size);
  }
  out += ']';
  if (mesh.device_ids.empty() && mesh.iota.reshape.empty()) return;
  out += ", device_ids=(";
  if (mesh.device_ids.empty()) {
    AppendIota(out, mesh.iota);
  } else {
    AppendList(out, '\0', mesh.device_ids, '\0');
  }
  out += ')';
}

void AppendAxes(std::string& out, const Mesh& mesh, const std::vector<MeshAxis>& axes,
                std::string_view separator, bool open) {
  out += '{';
  bool first = true;
  for (const MeshAxis& axis : axes) {
    if (!first) out += separator;
    first = false;
    out += '\'';
    AppendEscaped(out, mesh.axes[axis.axis].name);
    out += '\'';
    if (axis.size != 0) StrAppend(&out, ":(", axis.pre, ")", axis.size);
  }
  if (open) StrAppend(&out, first ? "" : separator, "?");
  out += '}';
}

std::string_view Word(Sharding::Kind kind) {
  switch (kind) {
    case Sharding::Kind::kManual:
      return "manual";
    case Sharding::Kind::kUnknown:
      return "unknown";
    case Sharding::Kind::kUnreduced:
      return "unreduced";
    case Sharding::Kind::kMaximal:
      return "maximal";
    default:
      return "replicated";
  }
}

void AppendNamed(std::string& out, const Sharding& sharding) {
  AppendMesh(out, sharding.mesh);
  if (sharding.dims.has_value()) {
    out += ", [";
    std::string_view separator;
    for (const Sharding::Dim& dim : *sharding.dims) {
      out += separator;
      separator = ", ";
      AppendAxes(out, sharding.mesh, dim.axes, ", ", dim.open);
    }
    out += ']';
  }
  if (sharding.whole.has_value()) {
    StrAppend(&out, ", ", Word(*sharding.whole));
    if (!sharding.reduction.empty()) StrAppend(&out, "=", sharding.reduction);
  }
  auto part = [&](std::string_view word, const std::vector<MeshAxis>& axes) {
    if (axes.empty()) return;
    StrAppend(&out, ", ", word, "=");
    AppendAxes(out, sharding.mesh, axes, ", ", false);
  };
  part("replicated", sharding.replicated);
  part("unreduced", sharding.unreduced);
  part("manual", sharding.manual);
}

void AppendTiled(std::string& out, const Sharding& sharding) {
  out += "devices=";
  AppendList(out, '[', sharding.tile, ']');
  if (sharding.iota.reshape.empty()) {
    AppendList(out, '\0', sharding.devices, '\0');
  } else {
    out += "<=";
    AppendIota(out, sharding.iota);
  }
  const auto& subgroups = sharding.subgroups;
  if (subgroups.size() == 1 && subgroups[0] == Sharding::Kind::kReplicated) {
    out += " last_tile_dim_replicate";
  } else if (!subgroups.empty()) {
    out += " last_tile_dims={";
    for (size_t i = 0; i < subgroups.size(); ++i)
      StrAppend(&out, i > 0 ? ", " : "", Word(subgroups[i]));
    out += '}';
  }
}

}  // namespace

void AppendReplicaGroups(std::string& out, const ReplicaGroups& groups) {
  switch (groups.form) {
    case ReplicaGroups::Form::kLists:
      out += '{';
      for (size_t i = 0; i < groups.lists.size(); ++i) {
        if (i > 0) out += ',';
        AppendList(out, '{', groups.lists[i], '}');
      }
      out += '}';
      return;
    case ReplicaGroups::Form::kIota:
      AppendList(out, '[', groups.iota.dims, ']');
      out += "<=";
      AppendIota(out, groups.iota);
      return;
    case ReplicaGroups::Form::kMesh:
      AppendMesh(out, groups.mesh);
      out += ' ';
      AppendAxes(out, groups.mesh, groups.axes, ",", false);
      return;
  }
}

void AppendSharding(std::string& out, const Sharding& sharding, bool metadata) {
  out += '{';
  switch (sharding.kind) {
    case Sharding::Kind::kTuple:
      for (size_t i = 0; i < sharding.elements.size(); ++i) {
        if (i > 0) out += ", ";
        if (i > 0 && i % 5 == 0) StrAppend(&out, "/*index=", i, "*/");
        AppendSharding(out, sharding.elements[i], metadata);
      }
      break;
    case Sharding::Kind::kTiled:
      AppendTiled(out, sharding);
      break;
    case Sharding::Kind::kNamed:
      AppendNamed(out, sharding);
      break;
    case Sharding::Kind::kMaximal:
      StrAppend(&out, "maximal device=", sharding.device);
      break;
    default:
      out += Word(sharding.kind);
      break;
  }
  const std::string_view before = sharding.kind == Sharding::Kind::kNamed ? ", " : " ";
  if (sharding.group != Sharding::Group::kNone) {
    StrAppend(&out, before, sharding.group == Sharding::Group::kAs ? "shard_as " : "shard_like ",
              sharding.group_id);
  }
  if (metadata && !sharding.metadata.empty())
    StrAppend(&out, before, "metadata=", sharding.metadata);
  out += '}';
}

}  // namespace assay
