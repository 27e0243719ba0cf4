// Plans how a kernel goes through the elements of a result: by one linear index, with vector lanes
// along a dimension, or element by element; and how its outermost loop is cut for threads. Decided
// from shapes alone, before any code is emitted.
#pragma once

#include <cstdint>
#include <functional>

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

// The dimension of the result along which something is read that lies contiguous in memory, where
// it is not the innermost one: of a transpose, or of a fusion with one of the result's dimensions.
// -1: none. A walk in squares uses every cache line of both sides while it is at hand.
int64_t TransposedDim(const Instruction& instruction);

// The number of elements of each array that takes part that fit into a vector: as many as of the
// widest type. It is 1 if a complex number takes part, since they have no lanes.
int ElementsPerVector(const Instruction& instruction, int vector_bits);

// The side of the squares of elements that are turned in registers, where `lanes` fit into a vector
// and `rows` and `columns` are the extents of both dimensions; 1: they are not worth it.
int TurnedSquare(int lanes, int64_t rows, int64_t columns);

// The first dimension with more than one element; -1 if there is none.
int64_t OutermostDim(const Shape& shape);

// If the loop that threads cut is the innermost as well, parts begin at multiples of so many
// elements.
inline constexpr int64_t kPartUnit = 64;

// The parts into which threads may cut [0, extent).
struct SplitPlan {
  int64_t extent = 0;
  int64_t grain = 1;           // smallest part, a multiple of the unit
  bool is_worthwhile = false;  // false: a split costs more than it gains
};
// `work`: operations of the whole kernel. Parts begin on multiples of `unit`.
SplitPlan PlanSplit(int64_t extent, int64_t unit, int64_t work, int threads);

}  // namespace assay
