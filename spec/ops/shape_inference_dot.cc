// Document: operation semantics chapter 11 (result type, DotGeneral), hlo-format 4.0.4.
#include <algorithm>

#include "spec/ops/inference_util.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

struct DotSide {
  int64_t operand;
  Attr batch_attr, contracting_attr;
  absl::Span<const int64_t> batch, contracting;
};

DotSide Side(const OpSite& site, int64_t operand, Attr batch, Attr contracting) {
  return {operand, batch, contracting, site.attributes.Integers(batch),
          site.attributes.Integers(contracting)};
}

absl::Status CheckSide(const OpSite& site, const DotSide& side) {
  const int64_t rank = site.operands[side.operand]->rank();
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, side.batch_attr, side.batch, rank));
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, side.contracting_attr, side.contracting, rank));
  for (int64_t d : side.batch) {
    if (std::find(side.contracting.begin(), side.contracting.end(), d) == side.contracting.end())
      continue;
    return SiteError(site, "dimension ", d, " of ", DescribeOperand(site, side.operand),
                     " is both a batch and a contracting dimension");
  }
  return absl::OkStatus();
}

// Dimensions that pair by position have the same size.
absl::Status CheckPairs(const OpSite& site, std::string_view what, absl::Span<const int64_t> lhs,
                        absl::Span<const int64_t> rhs) {
  if (lhs.size() != rhs.size()) {
    return SiteError(site, "lhs has ", lhs.size(), " ", what, " dimensions, rhs has ", rhs.size());
  }
  for (size_t i = 0; i < lhs.size(); ++i) {
    const int64_t a = site.operands[0]->dimension(lhs[i]), b = site.operands[1]->dimension(rhs[i]);
    if (a == b) continue;
    return SiteError(site, what, " dimension ", lhs[i], " of ", DescribeOperand(site, 0),
                     " has size ", a, ", dimension ", rhs[i], " of ", DescribeOperand(site, 1),
                     " has ", b);
  }
  return absl::OkStatus();
}

void AppendFree(const Shape& operand, const DotSide& side, DimVector& dimensions) {
  auto listed = [](absl::Span<const int64_t> list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!listed(side.batch, d) && !listed(side.contracting, d))
      dimensions.push_back(operand.dimension(d));
  }
}

}  // namespace

absl::StatusOr<ElementType> ProductSumType(const OpSite& site) {
  for (int64_t word : site.attributes.Integers(Attr::kOperandPrecision)) {
    if (WordAt(Attr::kOperandPrecision, word) == "packed_nibble") {
      return SiteError(site, "operand_precision packed_nibble has no meaning here");
    }
  }
  const ElementType lhs = site.operands[0]->element_type(), rhs = site.operands[1]->element_type();
  const bool one_class =
      lhs == rhs || (IsFloat(lhs) && IsFloat(rhs)) || (IsInteger(lhs) && IsInteger(rhs));
  if (!one_class) ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  const bool written = site.written != nullptr && site.written->IsArray();
  if (!written) {
    if (lhs != rhs && IsInteger(lhs)) ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
    return HigherPrecision(lhs, rhs);
  }
  const ElementType result = site.written->element_type();
  if (IsComplex(result) != IsComplex(lhs)) {
    return SiteError(site, "a result of ", Name(result), " from operands of ", Name(lhs),
                     ": both must be complex or neither");
  }
  if (IsInteger(result) && IsInteger(lhs) &&
      BitWidth(result) < std::max(BitWidth(lhs), BitWidth(rhs))) {
    return SiteError(site, "the result type ", Name(result), " is narrower than the operands' ",
                     Name(lhs), " and ", Name(rhs));
  }
  if (IsFloat(lhs) && !IsFloat(result)) {
    return SiteError(site, "a result of ", Name(result), " from operands of ", Name(lhs),
                     "; convert afterwards");
  }
  return result;
}

absl::StatusOr<Shape> InferDot(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1));
  const DotSide lhs = Side(site, 0, Attr::kLhsBatchDims, Attr::kLhsContractingDims);
  const DotSide rhs = Side(site, 1, Attr::kRhsBatchDims, Attr::kRhsContractingDims);
  ASSAY_RETURN_IF_ERROR(CheckSide(site, lhs));
  ASSAY_RETURN_IF_ERROR(CheckSide(site, rhs));
  ASSAY_RETURN_IF_ERROR(CheckPairs(site, "batch", lhs.batch, rhs.batch));
  ASSAY_RETURN_IF_ERROR(CheckPairs(site, "contracting", lhs.contracting, rhs.contracting));
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, ProductSumType(site));
  DimVector dimensions;
  for (int64_t d : lhs.batch) dimensions.push_back(site.operands[0]->dimension(d));
  AppendFree(*site.operands[0], lhs, dimensions);
  AppendFree(*site.operands[1], rhs, dimensions);
  return CheckedResult(site, Shape::Array(type, dimensions));
}

}  // namespace assay
