// Chooses walks and splits from shapes, types and the amount of work.
#include "optimized/plan/walk_plan.h"

#include <algorithm>
#include <optional>

#include "spec/ir/computation.h"

namespace assay {
namespace {

constexpr int64_t kParallelWork = 1 << 17;  // below this a split costs more than it gains
constexpr int64_t kMaxParts = 64;

// Widest element that takes part; nullopt if one of them has no lanes.
std::optional<int> WidestBits(const Instruction& instruction) {
  std::optional<int> bits = 8;
  const auto consider = [&](const Shape& shape) {
    ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t>) {
      if (!leaf.IsArray() || !bits) return;
      if (IsComplex(leaf.element_type())) {
        bits = std::nullopt;
      } else {
        bits = std::max(*bits, BitWidth(leaf.element_type()));
      }
    });
  };
  // Index operands are scalars and need no lanes.
  const auto has_lanes = [](const Shape& shape) { return shape.IsTuple() || shape.rank() > 0; };
  consider(instruction.shape());
  for (const Instruction* operand : instruction.operands()) {
    if (has_lanes(operand->shape())) consider(operand->shape());
  }
  if (instruction.opcode() == Opcode::kFusion) {
    for (const Instruction* inner : *instruction.callee()) {
      if (has_lanes(inner->shape())) consider(inner->shape());
    }
  }
  return bits;
}

}  // namespace

int ElementsPerVector(const Instruction& instruction, int vector_bits) {
  const std::optional<int> widest = WidestBits(instruction);
  return widest ? std::max(1, vector_bits / *widest) : 1;
}

int64_t TransposedDim(const Instruction& instruction) {
  const Shape& shape =
      instruction.shape().IsTuple() ? instruction.shape().elements()[0] : instruction.shape();
  const auto dim_of = [&](const Instruction& inner) -> int64_t {
    if (inner.opcode() != Opcode::kTranspose || !SameDimensions(inner.shape(), shape)) return -1;
    const absl::Span<const int64_t> from = inner.attributes().Integers(Attr::kDimensions);
    int64_t innermost = shape.rank() - 1, source = shape.rank() - 1;
    while (innermost > 0 && shape.dimension(innermost) == 1) --innermost;
    while (source > 0 && inner.operand(0)->shape().dimension(source) == 1) --source;
    for (int64_t d = 0; d < innermost; ++d) {
      if (from[d] == source) return d;
    }
    return -1;
  };
  if (instruction.opcode() != Opcode::kFusion) return dim_of(instruction);
  for (const Instruction* inner : *instruction.callee()) {
    if (const int64_t dim = dim_of(*inner); dim >= 0) return dim;
  }
  return -1;
}

int TurnedSquare(int lanes, int64_t rows, int64_t columns) {
  constexpr int kLargest = 16, kSmallest = 8;  // more would not fit into the registers
  const auto fits = [&](int side) { return rows % side == 0 && columns % side == 0; };
  const int most = std::min(lanes, kLargest);
  for (int side = most; side >= kSmallest; side /= 2) {
    if (fits(side)) return side;
  }
  return most >= kSmallest && std::min(rows, columns) >= 2 * kSmallest ? kSmallest : 1;
}

int64_t OutermostDim(const Shape& shape) {
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimension(d) != 1) return d;
  }
  return -1;
}

int VectorFor(int64_t extent, int width) {
  constexpr int kFewest = 4;
  int lanes = width;
  while (lanes > kFewest && lanes > extent) lanes /= 2;
  return lanes <= extent ? lanes : 1;
}

WalkPlan PlanWalk(const WalkChoice& choice) {
  const auto& [written, result, linear, width, can_walk_lanes] = choice;
  WalkPlan walk;
  if (linear) {
    walk.kind = WalkPlan::kLinear;
    walk.width = VectorFor(written.ElementCount(), width);
    return walk;
  }
  // Lanes run along the innermost dimension that is more than one element.
  int64_t innermost = written.rank() - 1;
  while (innermost >= 0 && written.dimension(innermost) == 1) --innermost;
  if (innermost < 0) return walk;
  bool contiguous = true;  // in the result as well, which may be larger than what is written
  for (int64_t d = innermost + 1; d < written.rank(); ++d) {
    contiguous = contiguous && result.dimension(d) == 1;
  }
  const int lanes = VectorFor(written.dimension(innermost), width);
  if (contiguous && lanes > 1 && can_walk_lanes(static_cast<int>(innermost))) {
    walk.kind = WalkPlan::kLanes;
    walk.lane_dim = static_cast<int>(innermost);
    walk.width = lanes;
  }
  return walk;
}

WalkPlan WithoutVectors(const WalkPlan& walk) {
  WalkPlan scalar;
  if (walk.kind == WalkPlan::kLinear) scalar.kind = WalkPlan::kLinear;
  return scalar;
}

SplitPlan PlanSplit(int64_t extent, int64_t unit, int64_t work, int threads) {
  SplitPlan split;
  split.extent = extent;
  if (threads < 2 || work < kParallelWork || extent < 2 * unit) return split;
  split.is_worthwhile = true;
  const int64_t parts = std::min<int64_t>(work / kParallelWork + 1, int64_t{4} * kMaxParts);
  split.grain = (extent / parts + unit) / unit * unit;
  return split;
}

}  // namespace assay
