// Lists of devices expanded, and checks that the parts of groups and shardings fit each other.
#include "spec/attributes/sharding.h"

#include <algorithm>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

int64_t Product(const Int64List& list) {
  int64_t product = 1;
  for (int64_t factor : list) product *= factor;
  return product;
}

// Elements of `values`, an array of `sizes`, in the order of its transposition.
Int64List Transposed(const Int64List& values, const Int64List& sizes,
                     const Int64List& permutation) {
  const size_t rank = sizes.size();
  Int64List strides(rank, 1), index(rank, 0), result;
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  result.reserve(values.size());
  for (size_t count = values.size(); count-- > 0;) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d) at += index[d] * strides[permutation[d]];
    result.push_back(values[at]);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < sizes[permutation[d]]) break;
      index[d] = 0;
    }
  }
  return result;
}

Int64List Iota(int64_t count) {
  Int64List values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[i] = i;
  return values;
}

std::vector<Int64List> SplitIntoGroups(const Int64List& devices, int64_t group_size) {
  std::vector<Int64List> groups;
  if (group_size < 1) return groups;
  for (size_t at = 0; at < devices.size(); at += static_cast<size_t>(group_size)) {
    const size_t end = std::min(devices.size(), at + static_cast<size_t>(group_size));
    groups.emplace_back(devices.begin() + static_cast<std::ptrdiff_t>(at),
                        devices.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return groups;
}

// A mesh axis cut where sub-axes begin and end.
struct Piece {
  int64_t axis, pre, size;
};

std::vector<Piece> Pieces(const Mesh& mesh, const std::vector<MeshAxis>& axes) {
  std::vector<Piece> pieces;
  for (size_t a = 0; a < mesh.axes.size(); ++a) {
    const auto axis = static_cast<int64_t>(a);
    Int64List cuts = {1, mesh.axes[a].size};
    for (const MeshAxis& used : axes) {
      if (used.axis != axis || used.size == 0) continue;
      cuts.push_back(used.pre);
      cuts.push_back(used.pre * used.size);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i)
      pieces.push_back({axis, cuts[i], cuts[i + 1] / cuts[i]});
    if (cuts.size() == 1) pieces.push_back({axis, 1, 1});
  }
  return pieces;
}

std::vector<Int64List> MeshGroups(const Mesh& mesh, const std::vector<MeshAxis>& axes) {
  if (mesh.maximal_device >= 0) return {{mesh.maximal_device}};
  const std::vector<Piece> pieces = Pieces(mesh, axes);
  Int64List sizes, permutation, grouped;
  for (const Piece& piece : pieces) sizes.push_back(piece.size);
  for (const MeshAxis& used : axes) {
    const int64_t pre = used.size == 0 ? 1 : used.pre;
    const int64_t end = used.size == 0 ? mesh.axes[used.axis].size : used.pre * used.size;
    for (size_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p].axis == used.axis && pieces[p].pre >= pre &&
          pieces[p].pre * pieces[p].size <= end) {
        grouped.push_back(static_cast<int64_t>(p));
      }
    }
  }
  int64_t group_size = 1;
  for (size_t p = 0; p < pieces.size(); ++p) {
    const auto number = static_cast<int64_t>(p);
    if (std::find(grouped.begin(), grouped.end(), number) == grouped.end())
      permutation.push_back(number);
  }
  for (int64_t p : grouped) {
    permutation.push_back(p);
    group_size *= sizes[p];
  }
  return SplitIntoGroups(Transposed(mesh.Devices(), sizes, permutation), group_size);
}

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(parts...));
}

absl::Status CheckSizes(std::string_view what, const Int64List& sizes, int64_t* count) {
  *count = 1;
  for (int64_t size : sizes) {
    if (size < 1) return Invalid(what, " has the size ", size, ", want a positive one");
    if (size > kMaxDevices || (*count *= size) > kMaxDevices)
      return Invalid(what, " names more than ", kMaxDevices, " devices");
  }
  return absl::OkStatus();
}

absl::Status CheckIota(const IotaDevices& iota) {
  int64_t wanted = 0, listed = 0;
  ASSAY_RETURN_IF_ERROR(CheckSizes("the device tile", iota.dims, &wanted));
  ASSAY_RETURN_IF_ERROR(CheckSizes("the iota of devices", iota.reshape, &listed));
  if (iota.reshape.empty()) return Invalid("the iota of devices has no dimension");
  if (wanted != listed)
    return Invalid("the iota lists ", listed, " devices, the tile has ", wanted);
  if (iota.permutation.empty() && iota.reshape.size() > 1)
    return Invalid("an iota of ", iota.reshape.size(), " dimensions needs T(permutation)");
  if (iota.permutation.empty()) return absl::OkStatus();
  if (iota.permutation.size() != iota.reshape.size()) {
    return Invalid("the permutation T(...) has ", iota.permutation.size(), " entries, the iota ",
                   iota.reshape.size(), " dimensions");
  }
  std::vector<bool> seen(iota.permutation.size(), false);
  for (int64_t d : iota.permutation) {
    if (d < 0 || d >= static_cast<int64_t>(seen.size()) || seen[d])
      return Invalid("T(...) is no permutation of the ", seen.size(), " dimensions of the iota");
    seen[d] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckUnique(Int64List devices) {
  std::sort(devices.begin(), devices.end());
  if (!devices.empty() && devices.front() < 0)
    return Invalid("device ", devices.front(), " is negative");
  const auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice != devices.end()) return Invalid("device ", *twice, " is listed twice");
  return absl::OkStatus();
}

absl::Status CheckMesh(const Mesh& mesh) {
  if (mesh.maximal_device >= 0) return absl::OkStatus();
  Int64List sizes;
  std::vector<std::string_view> names;
  for (const Mesh::Axis& axis : mesh.axes) {
    if (std::find(names.begin(), names.end(), axis.name) != names.end())
      return Invalid("the mesh has two axes '", axis.name, "'");
    names.push_back(axis.name);
    sizes.push_back(axis.size);
  }
  int64_t count = 0;
  ASSAY_RETURN_IF_ERROR(CheckSizes("the mesh", sizes, &count));
  if (!mesh.iota.reshape.empty()) {
    ASSAY_RETURN_IF_ERROR(CheckIota(mesh.iota));
    if (Product(mesh.iota.reshape) != count)
      return Invalid("device_ids lists ", Product(mesh.iota.reshape), " devices, the mesh has ",
                     count);
  }
  if (mesh.device_ids.empty()) return absl::OkStatus();
  if (static_cast<int64_t>(mesh.device_ids.size()) != count)
    return Invalid("device_ids lists ", mesh.device_ids.size(), " devices, the mesh has ", count);
  return CheckUnique(mesh.device_ids);
}

// No part of an axis is used twice, and the parts fit into the axis.
absl::Status CheckAxes(const Mesh& mesh, const std::vector<MeshAxis>& axes) {
  for (const MeshAxis& used : axes) {
    if (used.axis < 0 || used.axis >= static_cast<int64_t>(mesh.axes.size()))
      return Invalid("axis ", used.axis, " is out of the bounds of a mesh of ", mesh.axes.size());
    const Mesh::Axis& axis = mesh.axes[used.axis];
    if (used.size == 0) continue;
    if (used.pre < 1 || used.size < 1 || used.pre > axis.size || used.size > axis.size ||
        axis.size % (used.pre * used.size) != 0) {
      return Invalid("the sub-axis (", used.pre, ")", used.size, " does not fit the axis '",
                     axis.name, "' of size ", axis.size);
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const MeshAxis &a = axes[i], &b = axes[k];
      if (a.axis != b.axis) continue;
      const bool apart = a.size != 0 && b.size != 0 &&
                         (a.pre % (b.pre * b.size) == 0 || b.pre % (a.pre * a.size) == 0);
      if (!apart) return Invalid("the axis '", mesh.axes[a.axis].name, "' is used twice");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTiled(const Sharding& sharding) {
  int64_t count = 0;
  ASSAY_RETURN_IF_ERROR(CheckSizes("the device tile", sharding.tile, &count));
  if (sharding.tile.empty()) return Invalid("the tile assignment is missing");
  if (sharding.subgroups.size() > sharding.tile.size()) {
    return Invalid("last_tile_dims has ", sharding.subgroups.size(), " entries, the device tile ",
                   sharding.tile.size(), " dimensions");
  }
  if (!sharding.iota.reshape.empty()) return CheckIota(sharding.iota);
  if (static_cast<int64_t>(sharding.devices.size()) != count)
    return Invalid("the device tile has ", count, " places, ", sharding.devices.size(),
                   " devices are listed");
  if (count < 2) return Invalid("a list of devices has at least 2 entries; write maximal for one");
  return CheckUnique(sharding.devices);
}

absl::Status CheckNamed(const Sharding& sharding) {
  ASSAY_RETURN_IF_ERROR(CheckMesh(sharding.mesh));
  std::vector<MeshAxis> all;
  for (const Sharding::Dim& dim : sharding.dims.value_or(std::vector<Sharding::Dim>()))
    all.insert(all.end(), dim.axes.begin(), dim.axes.end());
  for (const auto* list : {&sharding.replicated, &sharding.unreduced, &sharding.manual})
    all.insert(all.end(), list->begin(), list->end());
  return CheckAxes(sharding.mesh, all);
}

}  // namespace

Int64List IotaDevices::Expand() const {
  const Int64List values = Iota(Product(reshape));
  return permutation.empty() ? values : Transposed(values, reshape, permutation);
}

int64_t Mesh::DeviceCount() const {
  if (maximal_device >= 0) return 1;
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  return count;
}

Int64List Mesh::Devices() const {
  if (maximal_device >= 0) return {maximal_device};
  if (!device_ids.empty()) return device_ids;
  if (!iota.reshape.empty()) return iota.Expand();
  return Iota(DeviceCount());
}

std::vector<Int64List> ReplicaGroups::Groups() const {
  switch (form) {
    case Form::kLists:
      return lists;
    case Form::kIota:
      return SplitIntoGroups(iota.Expand(), iota.dims.size() == 2 ? iota.dims[1] : 1);
    case Form::kMesh:
      return MeshGroups(mesh, axes);
  }
  return {};
}

absl::Status CheckReplicaGroups(const ReplicaGroups& groups) {
  switch (groups.form) {
    case ReplicaGroups::Form::kLists:
      return absl::OkStatus();
    case ReplicaGroups::Form::kIota:
      if (groups.iota.dims.size() != 2)
        return Invalid(
            "replica groups in iota form have 2 sizes, the number of groups and of the "
            "members of each; ",
            groups.iota.dims.size(), " are written");
      return CheckIota(groups.iota);
    case ReplicaGroups::Form::kMesh:
      ASSAY_RETURN_IF_ERROR(CheckMesh(groups.mesh));
      return CheckAxes(groups.mesh, groups.axes);
  }
  return absl::OkStatus();
}

absl::Status CheckSharding(const Sharding& sharding) {
  switch (sharding.kind) {
    case Sharding::Kind::kMaximal:
      // XLA writes -1 for a device that is not yet known.
      if (sharding.device < -1)
        return Invalid("the device of a maximal sharding is negative: ", sharding.device);
      return absl::OkStatus();
    case Sharding::Kind::kTiled:
      return CheckTiled(sharding);
    case Sharding::Kind::kNamed:
      return CheckNamed(sharding);
    case Sharding::Kind::kTuple:
      for (const Sharding& element : sharding.elements) {
        if (element.kind == Sharding::Kind::kTuple)
          return Invalid("a tuple sharding lists the leaves' shardings; it does not nest");
        ASSAY_RETURN_IF_ERROR(CheckSharding(element));
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

}  // namespace assay
