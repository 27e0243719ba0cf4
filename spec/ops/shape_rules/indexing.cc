// Gather and scatter. Documents: operation semantics chapter 9; hlo-format 4.4.
#include <algorithm>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// In range, without repetition, ascending.
absl::Status CheckAscending(const OpSite& site, Attr attr, int64_t rank) {
  const absl::Span<const int64_t> list = site.attributes.Integers(attr);
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, attr, list, rank));
  if (std::is_sorted(list.begin(), list.end())) return absl::OkStatus();
  return SiteError(site, Info(attr).name, " is not ascending");
}

absl::Status CheckDisjoint(const OpSite& site, Attr a, Attr b) {
  for (int64_t d : site.attributes.Integers(a)) {
    if (Contains(site.attributes.Integers(b), d))
      return SiteError(site, "dimension ", d, " is both in ", Info(a).name, " and in ",
                       Info(b).name);
  }
  return absl::OkStatus();
}

// The attributes by which an index vector names a place in the operand, under the names that they
// have in gather and in scatter.
struct IndexAttributes {
  Attr map, operand_batching, indices_batching;
};

// Checks how the index operand `i` addresses operand 0, and returns its dimensions without that of
// the index vectors.
absl::StatusOr<DimVector> IndexedDimensions(const OpSite& site, int64_t i,
                                            const IndexAttributes& names) {
  ASSAY_RETURN_IF_ERROR(CheckArray(site, i, kI));
  for (Attr attr : {names.map, Attr::kIndexVectorDim})
    ASSAY_RETURN_IF_ERROR(CheckPresent(site, attr));
  const Shape &operand = *site.operands[0], &indices = *site.operands[i];
  const int64_t vector_dim = site.attributes.Integer(Attr::kIndexVectorDim);
  if (vector_dim < 0 || vector_dim > indices.rank()) {
    return SiteError(site, "index_vector_dim ", vector_dim, " is not in [0, ", indices.rank(),
                     "] of ", DescribeOperand(site, i));
  }
  const int64_t components = vector_dim == indices.rank() ? 1 : indices.dimension(vector_dim);
  const absl::Span<const int64_t> map = site.attributes.Integers(names.map);
  if (static_cast<int64_t>(map.size()) != components) {
    return SiteError(site, Info(names.map).name, " has ", map.size(),
                     " entries, the index vectors of ", DescribeOperand(site, i), " have ",
                     components);
  }
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, names.map, map, operand.rank()));
  ASSAY_RETURN_IF_ERROR(CheckAscending(site, names.operand_batching, operand.rank()));
  ASSAY_RETURN_IF_ERROR(CheckDisjoint(site, names.map, names.operand_batching));
  const absl::Span<const int64_t> of_operand = site.attributes.Integers(names.operand_batching);
  const absl::Span<const int64_t> of_indices = site.attributes.Integers(names.indices_batching);
  ASSAY_RETURN_IF_ERROR(
      CheckDimensionList(site, names.indices_batching, of_indices, indices.rank()));
  if (Contains(of_indices, vector_dim)) {
    return SiteError(site, Info(names.indices_batching).name, " holds index_vector_dim ",
                     vector_dim);
  }
  if (of_operand.size() != of_indices.size()) {
    return SiteError(site, Info(names.operand_batching).name, " has ", of_operand.size(),
                     " entries, ", Info(names.indices_batching).name, " has ", of_indices.size());
  }
  for (size_t k = 0; k < of_operand.size(); ++k) {
    const int64_t a = operand.dimension(of_operand[k]), b = indices.dimension(of_indices[k]);
    if (a == b) continue;
    return SiteError(site, "batching dimension ", of_operand[k], " of ", DescribeOperand(site, 0),
                     " has size ", a, ", dimension ", of_indices[k], " of ",
                     DescribeOperand(site, i), " has ", b);
  }
  DimVector dimensions;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != vector_dim) dimensions.push_back(indices.dimension(d));
  return dimensions;
}

}  // namespace

absl::StatusOr<Shape> InferGather(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  for (Attr attr : {Attr::kOffsetDims, Attr::kCollapsedSliceDims, Attr::kSliceSizes})
    ASSAY_RETURN_IF_ERROR(CheckPresent(site, attr));
  ASSAY_ASSIGN_OR_RETURN(DimVector batch,
                         IndexedDimensions(site, 1,
                                           {Attr::kStartIndexMap, Attr::kOperandBatchingDims,
                                            Attr::kStartIndicesBatchingDims}));
  const Shape& operand = *site.operands[0];
  const absl::Span<const int64_t> offset_dims = site.attributes.Integers(Attr::kOffsetDims);
  const absl::Span<const int64_t> collapsed = site.attributes.Integers(Attr::kCollapsedSliceDims);
  const absl::Span<const int64_t> batching = site.attributes.Integers(Attr::kOperandBatchingDims);
  const absl::Span<const int64_t> sizes = site.attributes.Integers(Attr::kSliceSizes);
  const auto rank = static_cast<int64_t>(offset_dims.size() + batch.size());
  ASSAY_RETURN_IF_ERROR(CheckAscending(site, Attr::kOffsetDims, rank));
  ASSAY_RETURN_IF_ERROR(CheckAscending(site, Attr::kCollapsedSliceDims, operand.rank()));
  ASSAY_RETURN_IF_ERROR(CheckDisjoint(site, Attr::kCollapsedSliceDims, Attr::kOperandBatchingDims));
  ASSAY_RETURN_IF_ERROR(CheckListLength(site, Attr::kSliceSizes, sizes.size(), operand.rank()));
  if (sizes.size() != offset_dims.size() + collapsed.size() + batching.size()) {
    return SiteError(site, "offset_dims has ", offset_dims.size(), " entries, the slices of rank ",
                     sizes.size(), " keep ",
                     static_cast<int64_t>(sizes.size() - collapsed.size() - batching.size()),
                     " dimensions");
  }
  DimVector kept;  // operand dimensions that the result keeps
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[d] < 0 || sizes[d] > operand.dimension(d)) {
      return SiteError(site, "slice size ", sizes[d], " of dimension ", d, " is not in [0, ",
                       operand.dimension(d), "] of ", DescribeOperand(site, 0));
    }
    if (!Contains(collapsed, d) && !Contains(batching, d)) {
      kept.push_back(d);
    } else if (sizes[d] != 1 && operand.dimension(d) != 0) {
      return SiteError(site, "slice size ", sizes[d], " of dimension ", d,
                       ", which is collapsed or a batching dimension, is not 1");
    }
  }
  DimVector dimensions(rank);
  std::vector<bool> dynamic(rank, false);
  size_t offset_at = 0, batch_at = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(offset_dims, d)) {
      const int64_t from = kept[offset_at++];
      dimensions[d] = sizes[from];
      dynamic[d] = operand.is_dynamic(from) && sizes[from] == operand.dimension(from);
    } else {
      dimensions[d] = batch[batch_at++];
    }
  }
  Shape result = Shape::Array(operand.element_type(), dimensions);
  for (int64_t d = 0; d < rank; ++d) result.set_dynamic(d, dynamic[d]);
  const Shape& indices = *site.operands[1];
  const int64_t vector_dim = site.attributes.Integer(Attr::kIndexVectorDim);
  int64_t at = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(offset_dims, d)) continue;
    if (at == vector_dim) ++at;
    result.set_dynamic(d, indices.is_dynamic(at++));
  }
  return CheckedResult(site, std::move(result));
}

absl::StatusOr<Shape> InferScatter(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  const auto count = static_cast<int64_t>(site.operands.size());
  if (count % 2 == 0) {
    return SiteError(site, "has ", count,
                     " operands; want as many updates as operands, and the indices between them");
  }
  const int64_t n = count / 2;
  std::vector<ElementType> types;
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, i));
    ASSAY_RETURN_IF_ERROR(CheckArray(site, n + 1 + i));
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, n + 1, n + 1 + i));
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, i, n + 1 + i));
    types.push_back(site.operands[i]->element_type());
  }
  for (Attr attr : {Attr::kUpdateWindowDims, Attr::kInsertedWindowDims})
    ASSAY_RETURN_IF_ERROR(CheckPresent(site, attr));
  ASSAY_ASSIGN_OR_RETURN(
      DimVector scattered,
      IndexedDimensions(site, n,
                        {Attr::kScatterDimsToOperandDims, Attr::kInputBatchingDims,
                         Attr::kScatterIndicesBatchingDims}));
  const Shape &operand = *site.operands[0], &updates = *site.operands[n + 1];
  const absl::Span<const int64_t> window = site.attributes.Integers(Attr::kUpdateWindowDims);
  const absl::Span<const int64_t> inserted = site.attributes.Integers(Attr::kInsertedWindowDims);
  const absl::Span<const int64_t> batching = site.attributes.Integers(Attr::kInputBatchingDims);
  ASSAY_RETURN_IF_ERROR(CheckAscending(site, Attr::kUpdateWindowDims, updates.rank()));
  ASSAY_RETURN_IF_ERROR(CheckAscending(site, Attr::kInsertedWindowDims, operand.rank()));
  ASSAY_RETURN_IF_ERROR(CheckDisjoint(site, Attr::kInsertedWindowDims, Attr::kInputBatchingDims));
  if (window.size() + inserted.size() + batching.size() != static_cast<size_t>(operand.rank())) {
    return SiteError(site, "update_window_dims, inserted_window_dims and input_batching_dims have ",
                     window.size() + inserted.size() + batching.size(), " entries for ",
                     DescribeOperand(site, 0), " of rank ", operand.rank());
  }
  if (updates.rank() != static_cast<int64_t>(window.size() + scattered.size())) {
    return SiteError(site, "the updates ", DescribeOperand(site, n + 1), " have rank ",
                     updates.rank(), ", want ", window.size() + scattered.size(), ": ",
                     window.size(), " window dimensions and ", scattered.size(), " of the indices");
  }
  DimVector bounds;  // of the window, by operand dimension
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (!Contains(inserted, d) && !Contains(batching, d)) bounds.push_back(operand.dimension(d));
  size_t window_at = 0, scatter_at = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const int64_t size = updates.dimension(d);
    if (Contains(window, d)) {
      const int64_t bound = bounds[window_at++];
      if (size <= bound) continue;
      return SiteError(site, "window dimension ", d, " of the updates ",
                       DescribeOperand(site, n + 1), " has size ", size, ", more than ", bound,
                       " of ", DescribeOperand(site, 0));
    }
    const int64_t wanted = scattered[scatter_at++];
    if (size == wanted) continue;
    return SiteError(site, "dimension ", d, " of the updates ", DescribeOperand(site, n + 1),
                     " has size ", size, ", the indices ", DescribeOperand(site, n), " have ",
                     wanted);
  }
  ASSAY_RETURN_IF_ERROR(CheckReducer(site, site.callees[0], types));
  if (n == 1) return operand;
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i) results.push_back(*site.operands[i]);
  return CheckedResult(site, Shape::Tuple(std::move(results)));
}

}  // namespace assay
