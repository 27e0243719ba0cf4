// How index vectors address an operand, which gather and scatter have in common. Document:
// operation semantics chapter 9, Gather ("Element rule") and Scatter ("Execution").
#pragma once

#include <vector>

#include "reference/values/index_map.h"

namespace assay::reference {

// More starts than this of one index vector are not listed.
inline constexpr size_t kMaxStarts = 256;

// The attributes of the op, under names of their own.
struct IndexNumbers {
  int64_t index_vector_dim = 0;
  absl::Span<const int64_t> map;               // component k is of operand dimension map[k]
  absl::Span<const int64_t> operand_batching;  // operand dimensions, paired with
  absl::Span<const int64_t> indices_batching;  // those of the indices
};

// The index vectors, numbered in row-major order of the dimensions that remain without
// index_vector_dim, as starts in the operand.
class IndexVectors {
 public:
  // Starts are clamped to [low, high], one entry per operand dimension: gather clamps by
  // definition; for scatter the ends lie outside of the operand, so that nothing is lost.
  IndexVectors(const Array& indices, const IndexNumbers& numbers, DimVector low, DimVector high);

  int64_t count() const { return count_; }
  // The dimensions that remain, which are part of the result or of the updates.
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  // The plain start of vector g.
  DimVector Start(int64_t g) const;
  bool IsCertain(int64_t g) const;
  // All starts that bounds admit, the plain one first; empty: too many.
  std::vector<DimVector> AllStarts(int64_t g) const;
  // Whether the plain starts never go down in lexicographic order, before and after the clamp.
  bool AreSorted() const;

 private:
  int64_t Element(int64_t g, size_t k) const;
  DimVector StartOf(int64_t g, bool clamp) const;

  const Array& indices_;
  IndexNumbers numbers_;
  DimVector low_, high_, dimensions_, strides_;
  int64_t vector_stride_ = 0, count_ = 1;
};

// The elements of one window: where they lie in the result of a gather or in the updates of a
// scatter, and in the operand, relative to the first.
struct WindowOffsets {
  IndexMap outer, inner;
};
// `window_dims` are the outer dimensions of the window, `kept` the operand dimensions that they
// belong to, in order.
WindowOffsets OffsetsOf(const Shape& outer, const Shape& operand,
                        absl::Span<const int64_t> window_dims, absl::Span<const int64_t> kept);

// The operand dimensions that are in neither list.
DimVector KeptDimensions(int64_t rank, absl::Span<const int64_t> dropped,
                         absl::Span<const int64_t> batching);

// Where the window of vector g begins in `outer`, for every g: strides of the dimensions that are
// not in `window_dims`.
IndexMap OuterBases(const Shape& outer, absl::Span<const int64_t> window_dims);

}  // namespace assay::reference
