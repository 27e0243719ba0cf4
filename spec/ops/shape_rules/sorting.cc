// Sort and top-k. Document: operation semantics chapter 10.
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
absl::StatusOr<Shape> InferSort(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  std::vector<ElementType> parameters;
  std::vector<Shape> results;
  for (int64_t i = 0; i < static_cast<int64_t>(site.operands.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, i));
    parameters.insert(parameters.end(), 2, site.operands[i]->element_type());
    results.push_back(*site.operands[i]);
  }
  ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] int64_t dimension, OneDimension(site));
  ASSAY_RETURN_IF_ERROR(
      CheckScalarFunction(site, site.callees[0], parameters, {ElementType::kPred}));
  return CheckedResult(site, results.size() == 1 ? results[0] : Shape::Tuple(std::move(results)));
}

absl::StatusOr<Shape> InferTopK(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0, kP | kI | kF));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kK));
  const Shape& operand = *site.operands[0];
  if (operand.rank() == 0)
    return SiteError(site, DescribeOperand(site, 0), " has rank 0, want a last dimension");
  const int64_t last = operand.rank() - 1, k = site.attributes.Integer(Attr::kK);
  if (k < 0 || k > operand.dimension(last)) {
    return SiteError(site, "k = ", k, " is not in [0, ", operand.dimension(last),
                     "], the last dimension of ", DescribeOperand(site, 0));
  }
  Shape values = Shape::Array(operand.element_type(), operand.dimensions());
  for (int64_t d = 0; d < last; ++d) values.set_dynamic(d, operand.is_dynamic(d));
  values.set_dimension(last, k);
  Shape indices = values;
  indices.set_element_type(ElementType::kS32);
  return CheckedResult(site, Shape::Tuple({std::move(values), std::move(indices)}));
}

}  // namespace assay
