// Lets index vectors address an operand, which gather and scatter have in common. The rule that
// both follow stands above Gathering in gather.cc. Document: operation semantics chapter 9, Gather
// ("Element rule") and Scatter ("Execution").
#pragma once

#include <vector>

#include "reference/values/index_map.h"

namespace assay::reference {

// The attributes that say how index vectors are read, by gather's names. Those of scatter are
// scatter_dims_to_operand_dims, input_batching_dims and scatter_indices_batching_dims.
struct IndexVectorAttributes {
  int64_t index_vector_dim = 0;
  absl::Span<const int64_t> start_index_map;
  absl::Span<const int64_t> operand_batching_dims;
  absl::Span<const int64_t> start_indices_batching_dims;
};

// The index vectors, numbered in row-major order of the dimensions that remain without
// index_vector_dim, as starts in the operand.
class IndexVectors {
 public:
  // Starts are clamped to [low, high], one entry per operand dimension: gather clamps by
  // definition; for scatter the ends lie outside of the operand, so that nothing is lost.
  IndexVectors(const Array& indices, const IndexVectorAttributes& attributes, DimVector low,
               DimVector high);

  int64_t count() const { return count_; }
  // The plain start of vector g.
  DimVector Start(int64_t g) const;
  // True if that is the only one.
  bool IsCertain(int64_t g) const;
  // All starts that bounds admit, the plain one first; empty: too many.
  std::vector<DimVector> AllStarts(int64_t g) const;
  // True if the plain starts never go down in lexicographic order, before and after the clamp.
  bool AreSorted() const;

 private:
  // The element of the indices that holds component k of vector g.
  int64_t Element(int64_t g, size_t k) const;
  DimVector StartOf(int64_t g, bool clamp) const;

  const Array& indices_;
  IndexVectorAttributes attributes_;
  DimVector low_, high_, dimensions_, strides_;
  int64_t vector_stride_ = 0, count_ = 1;
};

// The linear indices of the elements of slices: in the array that holds all of them, which is the
// result of a gather or the updates of a scatter, and in the operand.
struct SlicePlaces {
  IndexMap first;    // in the array, of the first element of the slice of index vector g
  IndexMap offset;   // in the array, of each element of a slice from its first one
  IndexMap operand;  // in the operand, of each element of a slice from its start
};
// `offset_dims` are the dimensions of the array that count the elements of a slice, `slice_dims`
// the operand dimensions that they belong to, in order.
SlicePlaces PlacesOfSlices(const Shape& array, absl::Span<const int64_t> offset_dims,
                           const Shape& operand, absl::Span<const int64_t> slice_dims);

// The operand dimensions that appear as dimensions of slices: those that are not collapsed and no
// batching dimensions.
DimVector SliceDims(int64_t rank, absl::Span<const int64_t> collapsed_slice_dims,
                    absl::Span<const int64_t> operand_batching_dims);

}  // namespace assay::reference
