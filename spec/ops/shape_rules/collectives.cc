// Documents: operation semantics 15.1; hlo-format 4.0.7, 4.3. The number of devices of a run is not
// known here: the verifier checks the ids against the module's counts.
#include <algorithm>

#include "spec/ops/collective_groups.h"
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

bool HasTwice(Int64List ids, int64_t* twice) {
  std::sort(ids.begin(), ids.end());
  const auto at = std::adjacent_find(ids.begin(), ids.end());
  if (at != ids.end()) *twice = *at;
  return at != ids.end();
}

// The written groups: none empty, no id twice, of equal size where the op needs it. `size` is that
// of each group, 0 when no groups are written or they differ.
absl::Status CheckGroups(const OpSite& site, bool equal_sizes, int64_t* size) {
  *size = 0;
  const ReplicaGroups* written = site.attributes.Groups(Attr::kReplicaGroups);
  const bool flattened = site.attributes.Flag(Attr::kUseGlobalDeviceIds);
  if (site.attributes.Integer(Attr::kChannelId, 1) < 1)
    return SiteError(site, "channel_id ", site.attributes.Integer(Attr::kChannelId),
                     " is not positive");
  if (flattened && !site.attributes.Has(Attr::kChannelId))
    return SiteError(site, "use_global_device_ids needs a channel_id");
  if (written == nullptr || written->empty()) {
    if (flattened) return SiteError(site, "use_global_device_ids needs explicit replica_groups");
    return absl::OkStatus();
  }
  const std::vector<Int64List> groups = written->Groups();
  Int64List all;
  *size = static_cast<int64_t>(groups[0].size());
  for (const Int64List& group : groups) {
    if (group.empty()) return SiteError(site, "replica_groups has an empty group");
    const auto members = static_cast<int64_t>(group.size());
    if (equal_sizes && members != *size) {
      return SiteError(site, "replica_groups has groups of ", *size, " and of ", members,
                       " members; they must be of one size");
    }
    if (members != *size) *size = 0;
    for (int64_t id : group) {
      if (id < 0) return SiteError(site, "replica_groups names the negative id ", id);
      all.push_back(id);
    }
  }
  int64_t twice = 0;
  if (HasTwice(all, &twice)) return SiteError(site, "replica_groups names ", twice, " twice");
  return absl::OkStatus();
}

absl::Status CheckArrays(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  for (size_t i = 0; i < site.operands.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckArray(site, static_cast<int64_t>(i)));
  return absl::OkStatus();
}

// One array, or the tuple of them.
Shape Bundle(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::Tuple(std::move(shapes));
}
Shape BundleOfOperands(const OpSite& site) {
  std::vector<Shape> shapes;
  for (const Shape* operand : site.operands) shapes.push_back(*operand);
  return Bundle(std::move(shapes));
}

// Array k of a written result that has one per operand; nullptr when it has not.
const Shape* WrittenPart(const OpSite& site, const Shape& written, size_t k) {
  if (site.operands.size() == 1) return written.IsArray() ? &written : nullptr;
  if (!written.IsTuple() || written.elements().size() != site.operands.size()) return nullptr;
  return written.elements()[k].IsArray() ? &written.elements()[k] : nullptr;
}

// The dimension that is gathered or scattered, valid for every operand.
absl::StatusOr<int64_t> CheckDimension(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDimension));
  const absl::Span<const int64_t> list = site.attributes.Integers(Attr::kDimension);
  if (list.size() != 1) return SiteError(site, "dimensions has ", list.size(), " entries, want 1");
  for (size_t i = 0; i < site.operands.size(); ++i) {
    if (list[0] >= 0 && list[0] < site.operands[i]->rank()) continue;
    return SiteError(site, "dimension ", list[0], " is not in [0, ", site.operands[i]->rank(),
                     ") of ", DescribeOperand(site, static_cast<int64_t>(i)));
  }
  return list[0];
}

// `whole` is cut into `shards` parts of the size `part`, as many as a group has members. In the
// mode that counts partitions too, a group has a multiple of what is written.
absl::Status CheckShards(const OpSite& site, int64_t whole, int64_t part, int64_t group_size,
                         int64_t dimension, std::string_view what) {
  const int64_t shards = part == 0 ? (whole == 0 ? group_size : 0) : whole / part;
  if (part != 0 && (whole % part != 0 || whole < part)) {
    return SiteError(site, "dimension ", dimension, " of size ", whole, " of ", what,
                     " is no multiple of ", part);
  }
  if (group_size <= 1 || shards == group_size) return absl::OkStatus();
  const bool counts_partitions =
      GroupModeOf(site.opcode, site.attributes) == GroupMode::kCrossReplicaAndPartition;
  if (counts_partitions && shards > 0 && shards % group_size == 0) return absl::OkStatus();
  return SiteError(site, "the sizes ", whole, " and ", part, " of dimension ", dimension,
                   " make the shard count ", shards, ", the groups have ", group_size, " members");
}

absl::StatusOr<Shape> Gathered(const OpSite& site, const Shape* written) {
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, CheckDimension(site));
  int64_t group_size = 0;
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, /*equal_sizes=*/true, &group_size));
  if (written == nullptr) return SiteError(site, "the result shape must be written");
  std::vector<Shape> shapes;
  for (size_t k = 0; k < site.operands.size(); ++k) {
    Shape shape = *site.operands[k];
    const Shape* part = WrittenPart(site, *written, k);
    if (part == nullptr || part->rank() != shape.rank()) {
      return SiteError(site, "the written result ", written->ToString(), " does not fit ",
                       DescribeOperand(site, static_cast<int64_t>(k)));
    }
    ASSAY_RETURN_IF_ERROR(
        CheckShards(site, part->dimension(d), shape.dimension(d), group_size, d, "the result"));
    shape.set_dimension(d, part->dimension(d));
    shapes.push_back(std::move(shape));
  }
  return CheckedResult(site, Bundle(std::move(shapes)));
}

// A scalar computation (T, T) -> T for the type of every operand.
absl::Status CheckCombiner(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  const CalleeSignature& combiner = site.callees[0];
  if (combiner.parameter_count() != 2 || combiner.parameters[0] == nullptr ||
      combiner.parameters[1] == nullptr || combiner.result == nullptr) {
    return SiteError(site, "computation ", combiner.name, " takes ", combiner.parameter_count(),
                     " parameters, want 2");
  }
  for (size_t i = 0; i < site.operands.size(); ++i) {
    const ElementType type = site.operands[i]->element_type();
    for (const Shape* shape : {combiner.parameters[0], combiner.parameters[1], combiner.result}) {
      if (shape->IsScalar() && shape->element_type() == type) continue;
      return SiteError(site, "computation ", combiner.name, " has ", shape->ToString(),
                       " among its parameters and result, want ", Name(type), "[] as ",
                       DescribeOperand(site, static_cast<int64_t>(i)), " has");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPairs(const OpSite& site) {
  const AttrValue* value = site.attributes.Find(Attr::kSourceTargetPairs);
  const auto* pairs = value == nullptr ? nullptr : std::get_if<std::vector<Int64List>>(value);
  if (pairs == nullptr) return CheckPresent(site, Attr::kSourceTargetPairs);
  if (site.attributes.Integer(Attr::kChannelId, 1) < 1)
    return SiteError(site, "channel_id ", site.attributes.Integer(Attr::kChannelId),
                     " is not positive");
  Int64List sources, targets;
  for (const Int64List& pair : *pairs) {
    if (pair.size() != 2) {
      return SiteError(site, "an entry of source_target_pairs has ", pair.size(),
                       " ids, want a source and a target");
    }
    if (pair[0] < 0 || pair[1] < 0)
      return SiteError(site, "source_target_pairs names the negative id ",
                       std::min(pair[0], pair[1]));
    sources.push_back(pair[0]);
    targets.push_back(pair[1]);
  }
  int64_t twice = 0;
  if (HasTwice(sources, &twice))
    return SiteError(site, "source_target_pairs has the source ", twice, " twice");
  if (HasTwice(targets, &twice))
    return SiteError(site, "source_target_pairs has the target ", twice, " twice");
  return absl::OkStatus();
}

absl::StatusOr<Shape> Permuted(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckPairs(site));
  if (site.attributes.Has(Attr::kPermuteSliceSizes)) {
    if (site.operands.size() != 4)
      return SiteError(site, "slice_sizes needs 4 operands, has ", site.operands.size());
    return *site.operands[1];
  }
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  return CheckedResult(site, BundleOfOperands(site));
}

// (what goes in, what comes out, contexts as written)
absl::StatusOr<Shape> Started(const OpSite& site, Shape result) {
  // A permute of slices in place lists only the operand that is read.
  const bool in_place = site.attributes.Has(Attr::kPermuteSliceSizes);
  std::vector<Shape> elements = {in_place ? *site.operands[0] : BundleOfOperands(site),
                                 std::move(result)};
  if (site.written != nullptr && site.written->IsTuple()) {
    for (size_t i = 2; i < site.written->elements().size(); ++i)
      elements.push_back(site.written->elements()[i]);
  }
  return CheckedResult(site, Shape::Tuple(std::move(elements)));
}

}  // namespace

absl::StatusOr<Shape> InferAllGather(const OpSite& site) { return Gathered(site, site.written); }

absl::StatusOr<Shape> InferAllGatherStart(const OpSite& site) {
  const Shape* written = site.written;
  if (written == nullptr || !written->IsTuple() || written->elements().size() < 2)
    return SiteError(site, "the result must be written as (operands, results)");
  ASSAY_ASSIGN_OR_RETURN(Shape result, Gathered(site, &written->elements()[1]));
  return Started(site, std::move(result));
}

absl::StatusOr<Shape> InferAllReduce(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  int64_t group_size = 0;
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, /*equal_sizes=*/false, &group_size));
  ASSAY_RETURN_IF_ERROR(CheckCombiner(site));
  return CheckedResult(site, BundleOfOperands(site));
}

absl::StatusOr<Shape> InferReduceScatter(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, CheckDimension(site));
  int64_t group_size = 0;
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, /*equal_sizes=*/true, &group_size));
  ASSAY_RETURN_IF_ERROR(CheckCombiner(site));
  if (site.written == nullptr) return SiteError(site, "the result shape must be written");
  std::vector<Shape> shapes;
  for (size_t k = 0; k < site.operands.size(); ++k) {
    Shape shape = *site.operands[k];
    const Shape* part = WrittenPart(site, *site.written, k);
    if (part == nullptr || part->rank() != shape.rank()) {
      return SiteError(site, "the written result ", site.written->ToString(), " does not fit ",
                       DescribeOperand(site, static_cast<int64_t>(k)));
    }
    ASSAY_RETURN_IF_ERROR(CheckShards(site, shape.dimension(d), part->dimension(d), group_size, d,
                                      DescribeOperand(site, static_cast<int64_t>(k))));
    shape.set_dimension(d, part->dimension(d));
    shapes.push_back(std::move(shape));
  }
  return CheckedResult(site, Bundle(std::move(shapes)));
}

absl::StatusOr<Shape> InferAllToAll(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  int64_t group_size = 0;
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, /*equal_sizes=*/true, &group_size));
  for (size_t i = 0; i < site.operands.size(); ++i) {
    if (site.operands[i]->HasDynamicDimension()) {
      return SiteError(site, DescribeOperand(site, static_cast<int64_t>(i)),
                       " has dynamic dimensions");
    }
  }
  if (!site.attributes.Has(Attr::kDimension)) {
    const auto count = static_cast<int64_t>(site.operands.size());
    for (int64_t i = 1; i < count; ++i) {
      if (Compatible(*site.operands[0], *site.operands[i])) continue;
      return SiteError(site, DescribeOperand(site, i), " and ", DescribeOperand(site, 0),
                       " differ; every block has one shape");
    }
    if (group_size != 0 && group_size != count) {
      return SiteError(site, "has ", count, " operands, the groups have ", group_size, " members");
    }
    std::vector<Shape> shapes;
    for (const Shape* operand : site.operands) shapes.push_back(*operand);
    return CheckedResult(site, Shape::Tuple(std::move(shapes)));
  }
  if (site.operands.size() != 1) {
    return SiteError(site, "with a dimension there is one operand, not ", site.operands.size());
  }
  ASSAY_ASSIGN_OR_RETURN(const int64_t d, CheckDimension(site));
  if (group_size != 0 && site.operands[0]->dimension(d) % group_size != 0) {
    return SiteError(site, "dimension ", d, " of ", DescribeOperand(site, 0),
                     " is not divisible by the ", group_size, " members of the groups");
  }
  return *site.operands[0];
}

absl::StatusOr<Shape> InferRaggedAllToAll(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  int64_t group_size = 0;
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, /*equal_sizes=*/true, &group_size));
  const Shape &input = *site.operands[0], &output = *site.operands[1];
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  if (input.rank() < 1 || input.rank() != output.rank()) {
    return SiteError(site, DescribeOperand(site, 0), " and ", DescribeOperand(site, 1),
                     " need one rank, at least 1");
  }
  for (int64_t d = 1; d < input.rank(); ++d) {
    if (input.dimension(d) == output.dimension(d)) continue;
    return SiteError(site, "dimension ", d, " differs: ", input.dimension(d), " in ",
                     DescribeOperand(site, 0), ", ", output.dimension(d), " in ",
                     DescribeOperand(site, 1));
  }
  for (int64_t i = 2; i < 6; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i, kI));
    const Shape& offsets = *site.operands[i];
    if (offsets.rank() < 1 || offsets.rank() > 2)
      return SiteError(site, DescribeOperand(site, i), " has rank ", offsets.rank(),
                       ", want 1 or 2");
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 2, i));
    if (group_size != 0 && offsets.ElementCount() % group_size != 0) {
      return SiteError(site, DescribeOperand(site, i), " has ", offsets.ElementCount(),
                       " entries, the groups have ", group_size, " members");
    }
  }
  return output;
}

absl::StatusOr<Shape> InferCollectiveBroadcast(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckArrays(site));
  int64_t group_size = 0;
  ASSAY_RETURN_IF_ERROR(CheckGroups(site, /*equal_sizes=*/false, &group_size));
  if (!site.attributes.Flag(Attr::kHasDynamicRoot))
    return CheckedResult(site, BundleOfOperands(site));
  const auto data = static_cast<int64_t>(site.operands.size()) - 1;
  if (data < 1) return SiteError(site, "with a dynamic root there is an operand besides the roots");
  const Shape& roots = *site.operands[data];
  if (roots.element_type() != ElementType::kS32 || roots.rank() != 1 ||
      roots.dimension(0) != data) {
    return SiteError(site, DescribeOperand(site, data), " has the roots, want s32[", data, "]");
  }
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < data; ++i) shapes.push_back(*site.operands[i]);
  return CheckedResult(site, Bundle(std::move(shapes)));
}

absl::StatusOr<Shape> InferCollectivePermute(const OpSite& site) { return Permuted(site); }

absl::StatusOr<Shape> InferCollectivePermuteStart(const OpSite& site) {
  ASSAY_ASSIGN_OR_RETURN(Shape result, Permuted(site));
  return Started(site, std::move(result));
}

absl::StatusOr<Shape> InferStartedResult(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  const Shape& start = *site.operands[0];
  if (!start.IsTuple() || start.elements().size() < 2) {
    return SiteError(site, DescribeOperand(site, 0), " is not (operands, results) of a start");
  }
  return start.elements()[1];
}

absl::StatusOr<Shape> InferDeviceId(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  return Shape::Scalar(ElementType::kU32);
}

}  // namespace assay
