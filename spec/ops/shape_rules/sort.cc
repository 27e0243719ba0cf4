// Sort, top-k and map. Documents: operation semantics chapter 10; hlo-format 4.0.5.
#include "spec/ir/computation.h"
#include "spec/ops/shape_inference.h"
#include "spec/ops/shape_rules/inference_util.h"

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
      CheckScalarFunction(site, *site.callees[0], parameters, {ElementType::kPred}));
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

absl::StatusOr<Shape> InferMap(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  std::vector<ElementType> parameters;
  for (int64_t i = 0; i < static_cast<int64_t>(site.operands.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, i));
    parameters.push_back(site.operands[i]->element_type());
  }
  const Shape& first = *site.operands[0];
  const absl::Span<const int64_t> dimensions = site.attributes.Integers(Attr::kDimensions);
  if (!dimensions.empty())
    ASSAY_RETURN_IF_ERROR(
        CheckListLength(site, Attr::kDimensions, dimensions.size(), first.rank()));
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != static_cast<int64_t>(d)) {
      return SiteError(site, "entry ", d, " of dimensions is ", dimensions[d],
                       "; a map goes over all dimensions in order");
    }
  }
  const Computation& body = *site.callees[0];
  if (body.root() == nullptr || !body.root()->shape().IsScalar()) {
    return SiteError(site, "computation ", body.name(), " returns ",
                     body.root() == nullptr ? "nothing" : body.root()->shape().ToString(),
                     ", want a scalar");
  }
  const ElementType type = body.root()->shape().element_type();
  ASSAY_RETURN_IF_ERROR(CheckScalarFunction(site, body, parameters, {type}));
  Shape result = Shape::Array(type, first.dimensions());
  for (int64_t d = 0; d < first.rank(); ++d) result.set_dynamic(d, first.is_dynamic(d));
  return CheckedResult(site, std::move(result));
}

}  // namespace assay
