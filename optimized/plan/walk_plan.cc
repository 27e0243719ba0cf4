// Chooses walks from shapes and types.
#include "optimized/plan/walk_plan.h"

#include <algorithm>
#include <optional>

#include "spec/ir/computation.h"

namespace assay {

int TurnedSquare(int lanes, int64_t rows, int64_t columns) {
  constexpr int kLargest = 16, kSmallest = 8;  // more would not fit into the registers
  const auto fits = [&](int side) { return rows % side == 0 && columns % side == 0; };
  const int most = std::min(lanes, kLargest);
  for (int side = most; side >= kSmallest; side /= 2) {
    if (fits(side)) return side;
  }
  return most >= kSmallest && std::min(rows, columns) >= 2 * kSmallest ? kSmallest : 1;
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

}  // namespace assay
