// Reads index vectors and clamps the starts that they give.
#include "reference/ops/indexing/index_vectors.h"

#include <algorithm>

#include "reference/bounds/start_choices.h"

namespace assay::reference {
namespace {

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Offsets of all elements of a box of `sizes`, in row-major order.
IndexMap BoxOffsets(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides) {
  IndexMap offsets;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return offsets;
  DimVector index(sizes.size(), 0);
  do {
    offsets.push_back(LinearIndex(strides, index));
  } while (NextIndex(sizes, absl::MakeSpan(index)));
  return offsets;
}

}  // namespace

IndexVectors::IndexVectors(const Array& indices, const IndexVectorAttributes& attributes,
                           DimVector low, DimVector high)
    : indices_(indices), attributes_(attributes), low_(std::move(low)), high_(std::move(high)) {
  const Shape& shape = indices.literal.shape();
  const DimVector strides = RowMajorStrides(shape.dimensions());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == attributes.index_vector_dim) {
      vector_stride_ = strides[d];
      continue;
    }
    dimensions_.push_back(shape.dimension(d));
    strides_.push_back(strides[d]);
    count_ *= shape.dimension(d);
  }
}

int64_t IndexVectors::Element(int64_t g, size_t k) const {
  int64_t element = static_cast<int64_t>(k) * vector_stride_;
  for (size_t d = dimensions_.size(); d-- > 0; g /= dimensions_[d])
    element += g % dimensions_[d] * strides_[d];
  return element;
}

DimVector IndexVectors::StartOf(int64_t g, bool clamp) const {
  DimVector start(low_.size(), 0);
  const ElementType type = indices_.literal.element_type();
  for (size_t k = 0; k < attributes_.start_index_map.size(); ++k) {
    const int64_t d = attributes_.start_index_map[k];
    start[d] = IndexValue(type, indices_.literal.GetBits(Element(g, k)));
    if (clamp) start[d] = std::clamp(start[d], low_[d], high_[d]);
  }
  for (size_t j = 0; j < attributes_.operand_batching_dims.size(); ++j) {
    // The component of g along that dimension of the indices.
    const int64_t dim = attributes_.start_indices_batching_dims[j];
    const auto at = static_cast<size_t>(dim - (dim > attributes_.index_vector_dim ? 1 : 0));
    int64_t rest = g;
    for (size_t d = dimensions_.size() - 1; d > at; --d) rest /= dimensions_[d];
    start[attributes_.operand_batching_dims[j]] = rest % dimensions_[at];
  }
  return start;
}

DimVector IndexVectors::Start(int64_t g) const { return StartOf(g, true); }

bool IndexVectors::IsCertain(int64_t g) const {
  if (indices_.facts().choices.empty()) return true;
  for (size_t k = 0; k < attributes_.start_index_map.size(); ++k)
    if (indices_.facts().choices.contains(Element(g, k))) return false;
  return true;
}

std::vector<DimVector> IndexVectors::AllStarts(int64_t g) const {
  std::vector<DimVector> all = {Start(g)};
  if (indices_.facts().choices.empty()) return all;
  for (size_t k = 0; k < attributes_.start_index_map.size(); ++k) {
    const int64_t d = attributes_.start_index_map[k];
    if (!AddStarts(indices_, Element(g, k), {d, low_[d], high_[d]}, all)) return {};
  }
  return all;
}

bool IndexVectors::AreSorted() const {
  for (int64_t g = 1; g < count_; ++g) {
    for (bool clamp : {false, true}) {
      const DimVector before = StartOf(g - 1, clamp), after = StartOf(g, clamp);
      if (std::lexicographical_compare(after.begin(), after.end(), before.begin(), before.end()))
        return false;
    }
  }
  return true;
}

SlicePlaces PlacesOfSlices(const Shape& array, absl::Span<const int64_t> offset_dims,
                           const Shape& operand, absl::Span<const int64_t> slice_dims) {
  const DimVector array_strides = RowMajorStrides(array.dimensions());
  const DimVector operand_strides = RowMajorStrides(operand.dimensions());
  DimVector batch_sizes, batch_strides, slice_sizes, offset_strides, slice_strides;
  for (int64_t d = 0; d < array.rank(); ++d) {
    if (Contains(offset_dims, d)) continue;
    batch_sizes.push_back(array.dimension(d));
    batch_strides.push_back(array_strides[d]);
  }
  for (size_t k = 0; k < offset_dims.size(); ++k) {
    slice_sizes.push_back(array.dimension(offset_dims[k]));
    offset_strides.push_back(array_strides[offset_dims[k]]);
    slice_strides.push_back(operand_strides[slice_dims[k]]);
  }
  return {.first = BoxOffsets(batch_sizes, batch_strides),
          .offset = BoxOffsets(slice_sizes, offset_strides),
          .operand = BoxOffsets(slice_sizes, slice_strides)};
}

DimVector SliceDims(int64_t rank, absl::Span<const int64_t> collapsed_slice_dims,
                    absl::Span<const int64_t> operand_batching_dims) {
  DimVector slice_dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(collapsed_slice_dims, d) && !Contains(operand_batching_dims, d))
      slice_dims.push_back(d);
  }
  return slice_dims;
}

}  // namespace assay::reference
