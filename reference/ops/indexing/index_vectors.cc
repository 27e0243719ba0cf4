#include "reference/ops/indexing/index_vectors.h"

#include <algorithm>
#include <limits>

namespace assay::reference {
namespace {

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// A code of an index type as a mathematical integer; those beyond int64 saturate, which is beyond
// any dimension, too.
int64_t IndexValue(ElementType type, uint64_t code) {
  if (IsUnsigned(type)) {
    return static_cast<int64_t>(
        std::min(code, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
  }
  const int unused = 64 - BitWidth(type);
  return static_cast<int64_t>(code << unused) >> unused;
}

// All offsets of a box of `sizes`, in row-major order.
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

IndexVectors::IndexVectors(const Array& indices, const IndexNumbers& numbers, DimVector low,
                           DimVector high)
    : indices_(indices), numbers_(numbers), low_(std::move(low)), high_(std::move(high)) {
  const Shape& shape = indices.literal.shape();
  const DimVector strides = RowMajorStrides(shape.dimensions());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == numbers.index_vector_dim) {
      vector_stride_ = strides[d];
      continue;
    }
    dimensions_.push_back(shape.dimension(d));
    strides_.push_back(strides[d]);
    count_ *= shape.dimension(d);
  }
}

// The element of the indices that holds component k of vector g.
int64_t IndexVectors::Element(int64_t g, size_t k) const {
  int64_t element = static_cast<int64_t>(k) * vector_stride_;
  for (size_t d = dimensions_.size(); d-- > 0; g /= dimensions_[d])
    element += g % dimensions_[d] * strides_[d];
  return element;
}

DimVector IndexVectors::StartOf(int64_t g, bool clamp) const {
  DimVector start(low_.size(), 0);
  const ElementType type = indices_.literal.element_type();
  for (size_t k = 0; k < numbers_.map.size(); ++k) {
    const int64_t d = numbers_.map[k];
    start[d] = IndexValue(type, indices_.literal.GetBits(Element(g, k)));
    if (clamp) start[d] = std::clamp(start[d], low_[d], high_[d]);
  }
  for (size_t j = 0; j < numbers_.operand_batching.size(); ++j) {
    // The component of g along that dimension of the indices.
    const int64_t dim = numbers_.indices_batching[j];
    const auto at = static_cast<size_t>(dim - (dim > numbers_.index_vector_dim ? 1 : 0));
    int64_t rest = g;
    for (size_t d = dimensions_.size() - 1; d > at; --d) rest /= dimensions_[d];
    start[numbers_.operand_batching[j]] = rest % dimensions_[at];
  }
  return start;
}

DimVector IndexVectors::Start(int64_t g) const { return StartOf(g, true); }

bool IndexVectors::IsCertain(int64_t g) const {
  if (indices_.choices.empty()) return true;
  for (size_t k = 0; k < numbers_.map.size(); ++k)
    if (indices_.choices.contains(Element(g, k))) return false;
  return true;
}

std::vector<DimVector> IndexVectors::AllStarts(int64_t g) const {
  std::vector<DimVector> all = {Start(g)};
  if (indices_.choices.empty()) return all;
  for (size_t k = 0; k < numbers_.map.size(); ++k) {
    auto it = indices_.choices.find(Element(g, k));
    if (it == indices_.choices.end()) continue;
    const int64_t d = numbers_.map[k];
    std::vector<int64_t> candidates;
    for (uint64_t code : it->second) {
      const int64_t value = IndexValue(indices_.literal.element_type(), code);
      candidates.push_back(std::clamp(value, low_[d], high_[d]));
    }
    if (it->second.empty()) {
      if (high_[d] - low_[d] >= static_cast<int64_t>(kMaxStarts)) return {};
      for (int64_t value = low_[d]; value <= high_[d]; ++value) candidates.push_back(value);
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const size_t before = all.size();
    for (size_t i = 0; i < before; ++i) {
      for (int64_t value : candidates) {
        if (value == all[0][d]) continue;
        DimVector start = all[i];
        start[d] = value;
        all.push_back(std::move(start));
        if (all.size() > kMaxStarts) return {};
      }
    }
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

WindowOffsets OffsetsOf(const Shape& outer, const Shape& operand,
                        absl::Span<const int64_t> window_dims, absl::Span<const int64_t> kept) {
  const DimVector outer_all = RowMajorStrides(outer.dimensions());
  const DimVector inner_all = RowMajorStrides(operand.dimensions());
  DimVector sizes, outer_strides, inner_strides;
  for (size_t k = 0; k < window_dims.size(); ++k) {
    sizes.push_back(outer.dimension(window_dims[k]));
    outer_strides.push_back(outer_all[window_dims[k]]);
    inner_strides.push_back(inner_all[kept[k]]);
  }
  return {BoxOffsets(sizes, outer_strides), BoxOffsets(sizes, inner_strides)};
}

DimVector KeptDimensions(int64_t rank, absl::Span<const int64_t> dropped,
                         absl::Span<const int64_t> batching) {
  DimVector kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(dropped, d) && !Contains(batching, d)) kept.push_back(d);
  return kept;
}

IndexMap OuterBases(const Shape& outer, absl::Span<const int64_t> window_dims) {
  const DimVector all = RowMajorStrides(outer.dimensions());
  DimVector sizes, strides;
  for (int64_t d = 0; d < outer.rank(); ++d) {
    if (Contains(window_dims, d)) continue;
    sizes.push_back(outer.dimension(d));
    strides.push_back(all[d]);
  }
  return BoxOffsets(sizes, strides);
}

}  // namespace assay::reference
