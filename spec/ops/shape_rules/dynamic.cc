// Dynamic sizes. Documents: operation semantics chapter 16; hlo-format 4.0.3.
#include <limits>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// The one entry of `dimensions`, a dimension of operand 0, an array.
absl::StatusOr<int64_t> SizedDimension(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  return OneDimension(site);
}

absl::Status CheckSize(const OpSite& site, int64_t i) {
  ASSAY_RETURN_IF_ERROR(CheckScalar(site, i, kS));
  if (site.operands[i]->element_type() == ElementType::kS32) return absl::OkStatus();
  return SiteError(site, "the size ", DescribeOperand(site, i), " is not s32");
}

}  // namespace

absl::StatusOr<Shape> InferGetDimensionSize(const OpSite& site) {
  ASSAY_ASSIGN_OR_RETURN(int64_t d, SizedDimension(site));
  const int64_t size = site.operands[0]->dimension(d);
  if (size > std::numeric_limits<int32_t>::max())
    return SiteError(site, "the size ", size, " of dimension ", d, " does not fit s32");
  return Shape::Scalar(ElementType::kS32);
}

absl::StatusOr<Shape> InferSetDimensionSize(const OpSite& site) {
  ASSAY_ASSIGN_OR_RETURN(int64_t d, SizedDimension(site));
  ASSAY_RETURN_IF_ERROR(CheckSize(site, 1));
  Shape result = *site.operands[0];
  // A size that is a constant equal to the bound makes the dimension static again, which only the
  // text can say here.
  const bool is_static = site.written != nullptr && SameDimensions(*site.written, result) &&
                         !site.written->is_dynamic(d);
  result.set_dynamic(d, !is_static);
  return result;
}

absl::StatusOr<Shape> InferDynamicReshape(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_ASSIGN_OR_RETURN(Shape written, WrittenReshape(site));
  const auto sizes = static_cast<int64_t>(site.operands.size()) - 1;
  if (sizes != written.rank()) {
    return SiteError(site, "has ", sizes, " sizes for the result ", written.ToString(), " of rank ",
                     written.rank());
  }
  for (int64_t i = 1; i <= sizes; ++i) ASSAY_RETURN_IF_ERROR(CheckSize(site, i));
  return written;
}

}  // namespace assay
