// Documents: operation semantics chapter 11 (result type, DotGeneral), hlo-format 4.0.4 and 4.4
// (ragged-dot).
#include <algorithm>
#include <utility>

#include "spec/ops/shape_checks.h"
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

bool Lists(absl::Span<const int64_t> list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// Dimensions of an operand that are neither batch nor contracting, nor `but`.
void AppendFree(const Shape& operand, const DotSide& side, DimVector& dimensions,
                int64_t but = -1) {
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!Lists(side.batch, d) && !Lists(side.contracting, d) && d != but)
      dimensions.push_back(operand.dimension(d));
  }
}

struct DotSides {
  DotSide lhs, rhs;
};

// Checks what every dot asks of its first two operands.
absl::StatusOr<DotSides> CheckSides(const OpSite& site) {
  const DotSides sides = {Side(site, 0, Attr::kLhsBatchDims, Attr::kLhsContractingDims),
                          Side(site, 1, Attr::kRhsBatchDims, Attr::kRhsContractingDims)};
  ASSAY_RETURN_IF_ERROR(CheckSide(site, sides.lhs));
  ASSAY_RETURN_IF_ERROR(CheckSide(site, sides.rhs));
  ASSAY_RETURN_IF_ERROR(CheckPairs(site, "batch", sides.lhs.batch, sides.rhs.batch));
  ASSAY_RETURN_IF_ERROR(
      CheckPairs(site, "contracting", sides.lhs.contracting, sides.rhs.contracting));
  return sides;
}

// The array of batch, lhs's and rhs's free dimensions.
absl::StatusOr<Shape> DotResult(const OpSite& site, const DotSides& sides, DimVector dimensions,
                                int64_t group_dim = -1) {
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, ProductSumType(site));
  for (int64_t d : sides.lhs.batch) dimensions.push_back(site.operands[0]->dimension(d));
  AppendFree(*site.operands[0], sides.lhs, dimensions);
  AppendFree(*site.operands[1], sides.rhs, dimensions, group_dim);
  return CheckedResult(site, Shape::Array(type, dimensions));
}

// The dimension of rhs that counts groups: one if the ragged dimension is free, else none (-1).
absl::StatusOr<int64_t> GroupDimension(const OpSite& site, const DotSide& rhs, bool is_free) {
  const absl::Span<const int64_t> groups = site.attributes.Integers(Attr::kRhsGroupDims);
  ASSAY_RETURN_IF_ERROR(
      CheckDimensionList(site, Attr::kRhsGroupDims, groups, site.operands[1]->rank()));
  const size_t wanted = is_free ? 1 : 0;
  if (groups.size() != wanted) {
    return SiteError(site, "rhs_group_dims has ", groups.size(), " entries, want ", wanted,
                     ": the ragged dimension of lhs is ", is_free ? "" : "not ",
                     "a free dimension");
  }
  if (!is_free) return -1;
  if (Lists(rhs.batch, groups[0]) || Lists(rhs.contracting, groups[0])) {
    return SiteError(site, "group dimension ", groups[0], " of ", DescribeOperand(site, 1),
                     " is also a batch or a contracting dimension");
  }
  return groups[0];
}

// group_sizes is [groups] or [prefix..., groups], the prefix being dimensions of lhs.
absl::Status CheckGroupSizes(const OpSite& site, absl::Span<const int64_t> prefix) {
  const Shape &lhs = *site.operands[0], &sizes = *site.operands[2];
  const auto full = static_cast<int64_t>(prefix.size()) + 1;
  if (sizes.rank() != 1 && sizes.rank() != full) {
    return SiteError(site, DescribeOperand(site, 2), " has rank ", sizes.rank(), ", want 1",
                     full == 1 ? "" : StrCat(" or ", full));
  }
  for (int64_t d = 0; d + 1 < sizes.rank(); ++d) {
    if (sizes.dimension(d) == lhs.dimension(prefix[d])) continue;
    return SiteError(site, "dimension ", d, " of ", DescribeOperand(site, 2), " has size ",
                     sizes.dimension(d), ", dimension ", prefix[d], " of ",
                     DescribeOperand(site, 0), " has ", lhs.dimension(prefix[d]));
  }
  return absl::OkStatus();
}

// A scale is a scalar, which scales nothing, or has a factor per block of its operand.
absl::Status CheckScale(const OpSite& site, int64_t operand, const DotSide& side) {
  const int64_t scale = operand + 2;
  ASSAY_RETURN_IF_ERROR(CheckArray(site, scale, Info(site.opcode).types));
  const Shape &data = *site.operands[operand], &factors = *site.operands[scale];
  if (factors.IsScalar()) return absl::OkStatus();
  if (factors.rank() != data.rank()) {
    return SiteError(site, DescribeOperand(site, scale), " has rank ", factors.rank(),
                     ", want 0 or that of ", DescribeOperand(site, operand), ", ", data.rank());
  }
  for (int64_t d = 0; d < data.rank(); ++d) {
    const int64_t size = data.dimension(d), blocks = factors.dimension(d);
    if (blocks == 0 ? size == 0 : size % blocks == 0) continue;
    return SiteError(site, "dimension ", d, " of ", DescribeOperand(site, operand), " has size ",
                     size, ", which is no multiple of ", blocks, ", that of ",
                     DescribeOperand(site, scale));
  }
  if (side.contracting.size() == 1) return absl::OkStatus();
  return SiteError(site, DescribeOperand(site, operand), " is scaled and has ",
                   side.contracting.size(), " contracting dimensions, want one");
}

}  // namespace

absl::StatusOr<ElementType> ProductSumType(const OpSite& site) {
  for (int64_t word : site.attributes.Integers(Attr::kOperandPrecision)) {
    if (word == static_cast<int64_t>(OperandPrecision::kPackedNibble)) {
      return SiteError(site, "operand_precision packed_nibble has no meaning here");
    }
  }
  const ElementType lhs = site.operands[0]->element_type(), rhs = site.operands[1]->element_type();
  if (IsComplex(lhs) != IsComplex(rhs)) ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  const bool written = site.written != nullptr && site.written->IsArray();
  if (!written) {
    if (lhs != rhs && IsInteger(lhs) && IsInteger(rhs))
      ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
    return HigherPrecision(lhs, rhs);
  }
  const ElementType result = site.written->element_type();
  if (IsComplex(result) != IsComplex(lhs)) {
    return SiteError(site, "a result of ", Name(result), " from operands of ", Name(lhs), " and ",
                     Name(rhs), ": both must be complex or neither");
  }
  if (IsInteger(result) && IsInteger(lhs) && IsInteger(rhs) &&
      BitWidth(result) < std::max(BitWidth(lhs), BitWidth(rhs))) {
    return SiteError(site, "the result type ", Name(result), " is narrower than the operands' ",
                     Name(lhs), " and ", Name(rhs));
  }
  if (IsPred(result) && !(IsPred(lhs) && IsPred(rhs))) {
    return SiteError(site, "a result of pred from operands of ", Name(lhs), " and ", Name(rhs),
                     "; compare afterwards");
  }
  return result;
}

absl::StatusOr<Shape> InferDot(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1));
  ASSAY_ASSIGN_OR_RETURN(const DotSides sides, CheckSides(site));
  return DotResult(site, sides, {});
}

absl::StatusOr<Shape> InferRaggedDot(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 2, kI));
  ASSAY_ASSIGN_OR_RETURN(const DotSides sides, CheckSides(site));
  const Shape& lhs = *site.operands[0];
  const absl::Span<const int64_t> list = site.attributes.Integers(Attr::kLhsRaggedDims);
  if (list.size() != 1)
    return SiteError(site, "lhs_ragged_dims has ", list.size(), " entries, want one");
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, Attr::kLhsRaggedDims, list, lhs.rank()));
  const int64_t ragged = list[0];
  const bool is_batch = Lists(sides.lhs.batch, ragged);
  const bool is_contracting = Lists(sides.lhs.contracting, ragged);
  // Dimensions of lhs whose every index may have group sizes of its own.
  DimVector prefix;
  if (!is_batch) prefix.assign(sides.lhs.batch.begin(), sides.lhs.batch.end());
  for (int64_t d : is_batch ? sides.lhs.batch : sides.lhs.contracting) {
    if (d == ragged) break;
    if (is_batch || is_contracting) prefix.push_back(d);
  }
  for (int64_t d = 0; d < ragged && !is_batch && !is_contracting; ++d)
    if (!Lists(sides.lhs.batch, d) && !Lists(sides.lhs.contracting, d)) prefix.push_back(d);
  ASSAY_RETURN_IF_ERROR(CheckGroupSizes(site, prefix));
  ASSAY_ASSIGN_OR_RETURN(const int64_t group_dim,
                         GroupDimension(site, sides.rhs, !is_batch && !is_contracting));
  const int64_t groups = site.operands[2]->dimensions().back();
  if (group_dim >= 0 && site.operands[1]->dimension(group_dim) != groups) {
    return SiteError(site, "group dimension ", group_dim, " of ", DescribeOperand(site, 1),
                     " has size ", site.operands[1]->dimension(group_dim), ", ",
                     DescribeOperand(site, 2), " has sizes of ", groups, " groups");
  }
  DimVector dimensions;
  if (is_contracting) dimensions.push_back(groups);
  return DotResult(site, sides, std::move(dimensions), group_dim);
}

absl::StatusOr<Shape> InferScaledDot(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, Info(site.opcode).types));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1, Info(site.opcode).types));
  ASSAY_ASSIGN_OR_RETURN(const DotSides sides, CheckSides(site));
  ASSAY_RETURN_IF_ERROR(CheckScale(site, 0, sides.lhs));
  ASSAY_RETURN_IF_ERROR(CheckScale(site, 1, sides.rhs));
  if (site.operands[2]->IsScalar() && site.operands[3]->IsScalar()) {
    return SiteError(site, DescribeOperand(site, 2), " and ", DescribeOperand(site, 3),
                     " are both scalars, which scale nothing; use dot");
  }
  return DotResult(site, sides, {});
}

}  // namespace assay
