// Documents: operation semantics chapter 9, hlo-format 4.0.3. Sizes come from text: sums and
// products are formed in 128 bits.
#include <limits>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

constexpr int64_t kMaxSize = std::numeric_limits<int64_t>::max();

// Checks operand 0 and presence of the attribute that says what to do with it.
absl::Status CheckMovement(const OpSite& site, Attr attr) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  return CheckPresent(site, attr);
}

// The index operands from `first` on: one scalar per dimension of operand 0, or one vector with an
// entry per dimension; one integer type.
absl::Status CheckStartIndices(const OpSite& site, int64_t first) {
  const int64_t rank = site.operands[0]->rank();
  const int64_t count = static_cast<int64_t>(site.operands.size()) - first;
  if (count == 1 && site.operands[first]->IsArray() && site.operands[first]->rank() == 1) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, first, kI));
    const int64_t length = site.operands[first]->dimension(0);
    if (length == rank) return absl::OkStatus();
    return SiteError(site, "the start indices ", DescribeOperand(site, first), " have ", length,
                     " entries for ", DescribeOperand(site, 0), " of rank ", rank);
  }
  if (count != rank) {
    return SiteError(site, "has ", count, " start indices for ", DescribeOperand(site, 0),
                     " of rank ", rank);
  }
  for (int64_t i = first; i < first + count; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckScalar(site, i, kI));
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, first, i));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferBroadcast(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_ASSIGN_OR_RETURN(Shape written, WrittenArray(site));
  const Shape& operand = *site.operands[0];
  const absl::Span<const int64_t> dimensions = site.attributes.Integers(Attr::kDimensions);
  ASSAY_RETURN_IF_ERROR(
      CheckListLength(site, Attr::kDimensions, dimensions.size(), operand.rank()));
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, Attr::kDimensions, dimensions, written.rank()));
  if (operand.element_type() != written.element_type()) {
    return SiteError(site, DescribeOperand(site, 0), " has element type ",
                     Name(operand.element_type()), ", the result ", Name(written.element_type()));
  }
  for (int64_t i = 0; i < operand.rank(); ++i) {
    if (operand.dimension(i) == written.dimension(dimensions[i])) continue;
    return SiteError(site, "dimension ", i, " of ", DescribeOperand(site, 0), " has size ",
                     operand.dimension(i), ", result dimension ", dimensions[i], " has ",
                     written.dimension(dimensions[i]),
                     "; size 1 is not stretched, reshape it away first");
  }
  return written;
}

absl::StatusOr<Shape> InferReshape(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_ASSIGN_OR_RETURN(Shape written, WrittenReshape(site));
  const int64_t inferred = site.attributes.Integer(Attr::kInferredDimension, -1);
  if (inferred < -1 || inferred >= written.rank()) {
    return SiteError(site, "inferred_dimension ", inferred, " is not in [-1, ", written.rank(),
                     ")");
  }
  return written;
}

absl::StatusOr<Shape> InferTranspose(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMovement(site, Attr::kDimensions));
  const Shape& operand = *site.operands[0];
  const absl::Span<const int64_t> permutation = site.attributes.Integers(Attr::kDimensions);
  ASSAY_RETURN_IF_ERROR(
      CheckListLength(site, Attr::kDimensions, permutation.size(), operand.rank()));
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, Attr::kDimensions, permutation, operand.rank()));
  DimVector dimensions;
  for (int64_t from : permutation) dimensions.push_back(operand.dimension(from));
  Shape result = Shape::Array(operand.element_type(), dimensions);
  for (int64_t d = 0; d < result.rank(); ++d)
    result.set_dynamic(d, operand.is_dynamic(permutation[d]));
  return CheckedResult(site, result);
}

absl::StatusOr<Shape> InferReverse(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMovement(site, Attr::kDimensions));
  const Shape& operand = *site.operands[0];
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(
      site, Attr::kDimensions, site.attributes.Integers(Attr::kDimensions), operand.rank()));
  return operand;
}

absl::StatusOr<Shape> InferSlice(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMovement(site, Attr::kSlice));
  const Shape& operand = *site.operands[0];
  const absl::Span<const SliceRange> ranges = site.attributes.SliceRanges(Attr::kSlice);
  ASSAY_RETURN_IF_ERROR(CheckListLength(site, Attr::kSlice, ranges.size(), operand.rank()));
  DimVector dimensions;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const SliceRange& range = ranges[d];
    if (range.stride < 1)
      return SiteError(site, "stride ", range.stride, " of dimension ", d, " is not positive");
    if (range.start < 0 || range.start > range.limit || range.limit > operand.dimension(d)) {
      return SiteError(site, "range [", range.start, ", ", range.limit, ") of dimension ", d,
                       " does not lie in [0, ", operand.dimension(d), ") of ",
                       DescribeOperand(site, 0));
    }
    const int64_t length = range.limit - range.start;
    dimensions.push_back(length / range.stride + (length % range.stride != 0 ? 1 : 0));
  }
  Shape result = Shape::Array(operand.element_type(), dimensions);
  for (int64_t d = 0; d < result.rank(); ++d) {
    if (operand.is_dynamic(d) && result.dimension(d) != 1) result.set_dynamic(d, true);
  }
  return CheckedResult(site, result);
}

absl::StatusOr<Shape> InferPad(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_RETURN_IF_ERROR(CheckScalar(site, 1));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  const Shape& operand = *site.operands[0];
  // The text form cannot write the padding of a scalar: an absent one stands for none.
  const absl::Span<const PaddingDim> padding = site.attributes.Padding(Attr::kPadding);
  ASSAY_RETURN_IF_ERROR(CheckListLength(site, Attr::kPadding, padding.size(), operand.rank()));
  DimVector dimensions;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const PaddingDim& pad = padding[d];
    if (pad.interior < 0) {
      return SiteError(site, "interior padding ", pad.interior, " of dimension ", d,
                       " is negative");
    }
    const __int128 size = operand.dimension(d);
    const __int128 holes = size > 0 ? (size - 1) * pad.interior : 0;
    const __int128 padded = size + holes + pad.low + pad.high;
    if (padded < 0 || padded > kMaxSize) {
      return SiteError(site, "dimension ", d, " of ", DescribeOperand(site, 0), " with size ",
                       operand.dimension(d), " padded by ", pad.low, "_", pad.high, "_",
                       pad.interior,
                       padded < 0 ? " has a negative size" : " has 2^63 elements or more");
    }
    dimensions.push_back(static_cast<int64_t>(padded));
  }
  Shape result = Shape::Array(operand.element_type(), dimensions);
  for (int64_t d = 0; d < result.rank(); ++d) result.set_dynamic(d, operand.is_dynamic(d));
  return CheckedResult(site, result);
}

absl::StatusOr<Shape> InferConcatenate(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMovement(site, Attr::kDimension));
  const Shape& first = *site.operands[0];
  const absl::Span<const int64_t> list = site.attributes.Integers(Attr::kDimension);
  if (list.size() != 1)
    return SiteError(site, "dimensions has ", list.size(), " entries, want one");
  const int64_t along = list[0];
  if (along < 0 || along >= first.rank()) {
    return SiteError(site, "dimension ", along, " is not in [0, ", first.rank(), ") of ",
                     DescribeOperand(site, 0));
  }
  Shape result = Shape::Array(first.element_type(), first.dimensions());
  for (int64_t d = 0; d < first.rank(); ++d) result.set_dynamic(d, first.is_dynamic(d));
  for (int64_t i = 1; i < static_cast<int64_t>(site.operands.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, i));
    const Shape& operand = *site.operands[i];
    if (operand.rank() != first.rank()) {
      return SiteError(site, "ranks differ: ", DescribeOperand(site, 0), " has ", first.rank(),
                       ", ", DescribeOperand(site, i), " has ", operand.rank());
    }
    for (int64_t d = 0; d < first.rank(); ++d) {
      if (operand.is_dynamic(d)) result.set_dynamic(d, true);
      if (d == along || operand.dimension(d) == first.dimension(d)) continue;
      return SiteError(site, "dimension ", d, " differs: ", first.dimension(d), " in ",
                       DescribeOperand(site, 0), ", ", operand.dimension(d), " in ",
                       DescribeOperand(site, i));
    }
    int64_t sum;
    if (__builtin_add_overflow(result.dimension(along), operand.dimension(along), &sum)) {
      return SiteError(site, "dimension ", along, " of the result has 2^63 elements or more");
    }
    result.set_dimension(along, sum);
  }
  return CheckedResult(site, result);
}

absl::StatusOr<Shape> InferDynamicSlice(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMovement(site, Attr::kDynamicSliceSizes));
  ASSAY_RETURN_IF_ERROR(CheckStartIndices(site, 1));
  const Shape& operand = *site.operands[0];
  const absl::Span<const int64_t> sizes = site.attributes.Integers(Attr::kDynamicSliceSizes);
  ASSAY_RETURN_IF_ERROR(
      CheckListLength(site, Attr::kDynamicSliceSizes, sizes.size(), operand.rank()));
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[d] >= 0 && sizes[d] <= operand.dimension(d)) continue;
    return SiteError(site, "size ", sizes[d], " of dimension ", d, " is not in [0, ",
                     operand.dimension(d), "] of ", DescribeOperand(site, 0));
  }
  Shape result = Shape::Array(operand.element_type(), sizes);
  for (int64_t d = 0; d < result.rank(); ++d) {
    if (operand.is_dynamic(d) && sizes[d] > 1 && sizes[d] == operand.dimension(d))
      result.set_dynamic(d, true);
  }
  return CheckedResult(site, result);
}

absl::StatusOr<Shape> InferDynamicUpdateSlice(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  ASSAY_RETURN_IF_ERROR(CheckStartIndices(site, 2));
  const Shape& operand = *site.operands[0];
  const Shape& update = *site.operands[1];
  if (operand.rank() != update.rank()) {
    return SiteError(site, "ranks differ: ", DescribeOperand(site, 0), " has ", operand.rank(),
                     ", ", DescribeOperand(site, 1), " has ", update.rank());
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (update.dimension(d) <= operand.dimension(d)) continue;
    return SiteError(site, "dimension ", d, " of the update ", DescribeOperand(site, 1),
                     " has size ", update.dimension(d), ", more than ", operand.dimension(d),
                     " in ", DescribeOperand(site, 0));
  }
  return operand;
}

}  // namespace assay
