// Plans how a kernel goes through the elements of a result: by one linear index, with vector lanes
// along a dimension, or element by element. Decided from shapes alone, before any code is emitted.
#pragma once

#include <cstdint>
#include <functional>

#include "optimized/analysis/tasks/task_split.h"
#include "spec/ir/instruction.h"

namespace assay {

struct WalkPlan {
  enum Kind : uint8_t {
    kScalar,  // a loop per dimension, one element at a time
    kLinear,  // one loop over all elements in row-major order
    kLanes,   // a loop per dimension, `width` elements along `lane_dim`
    kTiles,   // as kScalar, in squares of `tile` elements along `lane_dim` and the innermost one;
              // where `width` is above 1, in squares of that many elements that are turned in
              // registers
  } kind = kScalar;
  int lane_dim = -1;         // for kLanes and kTiles
  int width = 1;             // elements per step
  int tile = 1;              // for kTiles
  bool squares_fit = false;  // for kTiles: nothing is left over of either dimension
  bool parts_fit = false;    // nor is anything of a thread's part

  bool operator==(const WalkPlan&) const = default;
};

// The lanes of the vectors in which `extent` elements are walked, of which `width` fit into a
// register: fewer where there are fewer elements, 1 where they are not worth a vector.
int VectorFor(int64_t extent, int width);

// All that the choice of a walk depends on.
struct WalkChoice {
  const Shape& written;  // the array of elements that are computed
  const Shape& result;   // the array that they are written into
  bool linear = false;   // everything can be walked by one linear index
  int width = 1;         // elements that fit into a vector
  // True if everything can be walked with lanes along a dimension of `written`.
  std::function<bool(int lane_dim)> can_walk_lanes = nullptr;
};
WalkPlan PlanWalk(const WalkChoice& choice);
// Returns the walk with one element at a time in the place of vectors.
WalkPlan WithoutVectors(const WalkPlan& walk);

// The side of the squares of elements that are turned in registers, where `lanes` fit into a vector
// and `rows` and `columns` are the extents of both dimensions; 1: they are not worth it.
int TurnedSquare(int lanes, int64_t rows, int64_t columns);

}  // namespace assay
