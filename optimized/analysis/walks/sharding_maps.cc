// Dimensions from operands to results, and shardings along them.
#include "optimized/analysis/walks/sharding_maps.h"

#include <functional>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "optimized/analysis/walks/elementwise_ops.h"

namespace assay {
namespace {

using Dims = std::optional<DimVector>;

constexpr int64_t kEnds = -1;

DimVector SameDims(size_t rank) {
  DimVector to(rank);
  std::iota(to.begin(), to.end(), 0);
  return to;
}

// All dimensions as they are, without those of which `stays` says no.
template <typename Stays>
DimVector DimsThatStay(int64_t rank, Stays stays) {
  DimVector to = SameDims(static_cast<size_t>(rank));
  for (int64_t d = 0; d < rank; ++d)
    if (!stays(d)) to[static_cast<size_t>(d)] = kEnds;
  return to;
}

// Runs of dimensions with as many elements on either side; the first of a run counts the slowest,
// so that blocks of it are blocks of the other.
DimVector DimsOfReshape(const Shape& from, const Shape& to) {
  DimVector carried(static_cast<size_t>(from.rank()), kEnds);
  int64_t f = 0, t = 0;
  while (true) {
    // Dimensions of one element say nothing.
    while (f < from.rank() && from.dimension(f) == 1) ++f;
    while (t < to.rank() && to.dimension(t) == 1) ++t;
    if (f == from.rank() || t == to.rank()) break;
    carried[static_cast<size_t>(f)] = t;
    int64_t left = from.dimension(f++), right = to.dimension(t++);
    while (left != right && (left < right ? f < from.rank() : t < to.rank())) {
      (left < right ? left : right) *= left < right ? from.dimension(f++) : to.dimension(t++);
    }
    if (left != right) break;
  }
  return carried;
}

Dims DimsOfDot(const Instruction& dot, int64_t k) {
  if (k > 1) return std::nullopt;
  const auto batch = dot.attributes().Integers(k == 0 ? Attr::kLhsBatchDims : Attr::kRhsBatchDims);
  const auto summed =
      dot.attributes().Integers(k == 0 ? Attr::kLhsContractingDims : Attr::kRhsContractingDims);
  const int64_t rank = dot.operand(k)->shape().rank();
  const auto free = rank - static_cast<int64_t>(batch.size() + summed.size());
  DimVector to(static_cast<size_t>(rank), kEnds);
  for (size_t b = 0; b < batch.size(); ++b)
    to[static_cast<size_t>(batch[b])] = static_cast<int64_t>(b);
  // Free dimensions of the left side stand behind those of the batch, those of the right side last.
  int64_t next = k == 0 ? static_cast<int64_t>(batch.size()) : dot.shape().rank() - free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(summed, d))
      to[static_cast<size_t>(d)] = next++;
  }
  return to;
}

Dims DimsOfConvolution(const Instruction& convolution, int64_t k) {
  const ConvDimLabels& labels = *convolution.attributes().DimLabels();
  const bool is_grouped = convolution.attributes().Integer(Attr::kFeatureGroupCount, 1) != 1 ||
                          convolution.attributes().Integer(Attr::kBatchGroupCount, 1) != 1;
  if (k > 1 || is_grouped) return std::nullopt;
  DimVector to(static_cast<size_t>(convolution.operand(k)->shape().rank()), kEnds);
  const int64_t from = k == 0 ? labels.input_batch : labels.kernel_output_feature;
  to[static_cast<size_t>(from)] = k == 0 ? labels.output_batch : labels.output_feature;
  return to;
}

Dims DimsOfReduce(const Instruction& reduce, int64_t k) {
  if (k >= reduce.operand_count() / 2) return std::nullopt;
  const auto reduced = reduce.attributes().Integers(Attr::kDimensions);
  int64_t next = 0;
  DimVector to;
  for (int64_t d = 0; d < reduce.operand(k)->shape().rank(); ++d)
    to.push_back(absl::c_linear_search(reduced, d) ? kEnds : next++);
  return to;
}

// Serves ops whose result has the rank of operand k.
Dims DimsOfSameRank(const Instruction& inst, int64_t k) {
  const Attributes& attributes = inst.attributes();
  const Shape &from = inst.operand(k)->shape(), &to = inst.shape();
  const auto keeps_sizes = [&](int64_t d) { return from.dimension(d) == to.dimension(d); };
  switch (inst.opcode()) {
    case Opcode::kReverse: {
      const auto reversed = attributes.Integers(Attr::kDimensions);
      return DimsThatStay(from.rank(),
                          [&](int64_t d) { return !absl::c_linear_search(reversed, d); });
    }
    case Opcode::kConcatenate: {
      const auto joined = attributes.Integers(Attr::kDimension);
      return DimsThatStay(from.rank(),
                          [&](int64_t d) { return !absl::c_linear_search(joined, d); });
    }
    case Opcode::kPad:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
      if (k > 0) return std::nullopt;
      return DimsThatStay(from.rank(), keeps_sizes);
    case Opcode::kDynamicUpdateSlice:
      if (k > 1) return std::nullopt;
      return DimsThatStay(from.rank(), keeps_sizes);
    case Opcode::kBitcastConvert:
      return DimsThatStay(from.rank(), keeps_sizes);
    default:
      if (!IsElementwise(inst.opcode()) && inst.opcode() != Opcode::kCopy) return std::nullopt;
      return SameDims(static_cast<size_t>(from.rank()));
  }
}

Dims DimsOf(const Instruction& inst, int64_t k) {
  switch (inst.opcode()) {
    case Opcode::kBroadcast: {
      const auto to = inst.attributes().Integers(Attr::kDimensions);
      return DimVector(to.begin(), to.end());
    }
    case Opcode::kTranspose: {
      const auto from = inst.attributes().Integers(Attr::kDimensions);
      DimVector to(from.size());
      for (size_t d = 0; d < from.size(); ++d)
        to[static_cast<size_t>(from[d])] = static_cast<int64_t>(d);
      return to;
    }
    case Opcode::kReshape:
      return DimsOfReshape(inst.operand(0)->shape(), inst.shape());
    case Opcode::kDot:
      return DimsOfDot(inst, k);
    case Opcode::kConvolution:
      return DimsOfConvolution(inst, k);
    case Opcode::kReduce:
      return DimsOfReduce(inst, k);
    case Opcode::kSort: {
      const int64_t sorted = inst.attributes().Integers(Attr::kDimension)[0];
      return DimsThatStay(inst.operand(k)->shape().rank(), [&](int64_t d) { return d != sorted; });
    }
    default:
      if (!inst.shape().IsArray() || inst.operand(k)->shape().rank() != inst.shape().rank())
        return std::nullopt;
      return DimsOfSameRank(inst, k);
  }
}

// Parts along the dimensions of data, then copies.
struct Tiles {
  Int64List parts, devices;
  int64_t copies = 1;
};

std::optional<Tiles> TilesOf(const Sharding& sharding) {
  if (sharding.kind != Sharding::Kind::kTiled || sharding.subgroups.size() > 1) return std::nullopt;
  Tiles tiles;
  tiles.parts.assign(sharding.tile.begin(), sharding.tile.begin() + sharding.DataRank());
  if (!sharding.subgroups.empty()) {
    if (sharding.subgroups[0] != Sharding::Kind::kReplicated) return std::nullopt;
    tiles.copies = sharding.tile.back();
  }
  tiles.devices = sharding.devices.empty() ? sharding.iota.Expand() : sharding.devices;
  return tiles;
}

Sharding ShardingOf(Tiles tiles) {
  Sharding sharding;
  if (absl::c_all_of(tiles.parts, [](int64_t parts) { return parts == 1; })) return sharding;
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tile = std::move(tiles.parts);
  if (tiles.copies > 1) {
    sharding.tile.push_back(tiles.copies);
    sharding.subgroups = {Sharding::Kind::kReplicated};
  }
  const auto count = static_cast<int64_t>(tiles.devices.size());
  bool ascends = true;
  for (int64_t i = 0; i < count; ++i) ascends &= tiles.devices[static_cast<size_t>(i)] == i;
  if (ascends) {
    sharding.iota = {.dims = sharding.tile, .reshape = {count}, .permutation = {}};
  } else {
    sharding.devices = std::move(tiles.devices);
  }
  return sharding;
}

// `from[d]`: the dimension of the given array that is d of the wanted one, or kEnds.
std::optional<Sharding> Carried(const Sharding& sharding, const DimVector& from,
                                const Shape& given_shape, const Shape& wanted_shape) {
  const bool is_whole =
      sharding.kind == Sharding::Kind::kReplicated || sharding.kind == Sharding::Kind::kMaximal;
  const bool is_tiled = sharding.kind == Sharding::Kind::kTiled;
  if (is_whole ||
      (is_tiled && SameDimensions(given_shape, wanted_shape) && from == SameDims(from.size()))) {
    Sharding same = sharding;
    same.group = Sharding::Group::kNone;
    same.group_id = 0;
    same.metadata.clear();
    return same;
  }
  const std::optional<Tiles> given = TilesOf(sharding);
  if (!given.has_value()) return std::nullopt;
  Tiles wanted;
  Int64List order;  // of the given dimensions in the wanted array; those that end, last
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t parts = from[d] == kEnds ? 1 : given->parts[static_cast<size_t>(from[d])];
    wanted.parts.push_back(parts);
    if (from[d] == kEnds) continue;
    order.push_back(from[d]);
    const int64_t before = given_shape.dimension(from[d]);
    const int64_t after = wanted_shape.dimension(static_cast<int64_t>(d));
    if (before != after && (before % parts != 0 || after % parts != 0)) return std::nullopt;
  }
  wanted.copies = given->copies;
  const auto rank = static_cast<int64_t>(given->parts.size());
  for (int64_t d = 0; d < rank; ++d) {
    if (absl::c_linear_search(order, d)) continue;
    order.push_back(d);
    wanted.copies *= given->parts[static_cast<size_t>(d)];
  }
  order.push_back(rank);
  Int64List sizes = given->parts;
  sizes.push_back(given->copies);
  for (const int64_t place : IotaDevices{{}, std::move(sizes), std::move(order)}.Expand())
    wanted.devices.push_back(given->devices[static_cast<size_t>(place)]);
  return ShardingOf(std::move(wanted));
}

}  // namespace

std::optional<CarriedDimensions> CarriedFrom(const Instruction& inst, int64_t k) {
  if (!inst.operand(k)->shape().IsArray()) return std::nullopt;
  Dims dims = DimsOf(inst, k);
  if (!dims.has_value()) return std::nullopt;
  return CarriedDimensions{inst.shape().IsTuple() ? k : 0, *std::move(dims)};
}

std::optional<Sharding> CarriedForward(const Sharding& sharding,
                                       const CarriedDimensions& dimensions, const Shape& operand,
                                       const Shape& result) {
  DimVector from(static_cast<size_t>(result.rank()), kEnds);
  for (size_t d = 0; d < dimensions.to.size(); ++d) {
    if (dimensions.to[d] != kEnds)
      from[static_cast<size_t>(dimensions.to[d])] = static_cast<int64_t>(d);
  }
  return Carried(sharding, from, operand, result);
}

std::optional<Sharding> CarriedBackward(const Sharding& sharding,
                                        const CarriedDimensions& dimensions, const Shape& operand,
                                        const Shape& result) {
  return Carried(sharding, dimensions.to, result, operand);
}

int64_t PartsOf(const Sharding& sharding) {
  if (sharding.kind != Sharding::Kind::kTiled) return 1;
  return std::accumulate(sharding.tile.begin(), sharding.tile.begin() + sharding.DataRank(),
                         int64_t{1}, std::multiplies<>());
}

}  // namespace assay
