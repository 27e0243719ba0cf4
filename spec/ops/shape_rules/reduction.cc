// Reduce, map and scan. Documents: operation semantics chapter 10, hlo-format 4.0.5 (scan) and 4.4
// ("Reducer rule").
#include <algorithm>
#include <utility>

#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"

namespace assay {
namespace {

// One parameter or result of the computation of a scan.
absl::Status CheckScanShape(const OpSite& site, std::string_view what, int64_t i, const Shape& got,
                            const Shape& want) {
  if (Compatible(got, want)) return absl::OkStatus();
  return SiteError(site, what, " ", i, " of computation ", site.callees[0].name, " is ",
                   got.ToString(), ", want ", want.ToString());
}

Shape WithoutDimension(const Shape& shape, int64_t d) {
  DimVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.erase(dimensions.begin() + d);
  return Shape::Array(shape.element_type(), dimensions);
}

// The parameters of the computation are the inputs without dimension `d`, then the carries.
absl::Status CheckScanParameters(const OpSite& site, int64_t inputs, int64_t d) {
  const CalleeSignature& body = site.callees[0];
  const auto count = static_cast<int64_t>(site.operands.size());
  if (body.parameter_count() != count) {
    return SiteError(site, "computation ", body.name, " takes ", body.parameter_count(),
                     " parameters, want ", count, ": ", inputs, " inputs, then the carries");
  }
  for (int64_t i = 0; i < count; ++i) {
    const Shape* parameter = body.parameters[i];
    if (parameter == nullptr)
      return SiteError(site, "computation ", body.name, " lacks parameter ", i);
    const Shape& operand = *site.operands[i];
    ASSAY_RETURN_IF_ERROR(CheckScanShape(site, "parameter", i, *parameter,
                                         i < inputs ? WithoutDimension(operand, d) : operand));
  }
  if (body.result != nullptr) return absl::OkStatus();
  return SiteError(site, "computation ", body.name, " has no root");
}

}  // namespace

absl::StatusOr<Shape> InferReduce(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDimensions));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ElementType> types, CheckInputsAndInitialValues(site));
  const auto n = static_cast<int64_t>(types.size());
  const Shape& input = *site.operands[0];
  const absl::Span<const int64_t> reduced = site.attributes.Integers(Attr::kDimensions);
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, Attr::kDimensions, reduced, input.rank()));
  ASSAY_RETURN_IF_ERROR(CheckReducer(site, site.callees[0], types));

  DimVector kept;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) kept.push_back(d);
  }
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i) {
    DimVector dimensions;
    for (int64_t d : kept) dimensions.push_back(input.dimension(d));
    Shape result = Shape::Array(types[i], dimensions);
    for (size_t d = 0; d < kept.size(); ++d)
      result.set_dynamic(d, site.operands[i]->is_dynamic(kept[d]));
    results.push_back(std::move(result));
  }
  return CheckedResult(site, n == 1 ? results[0] : Shape::Tuple(std::move(results)));
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
  const CalleeSignature& body = site.callees[0];
  if (body.result == nullptr || !body.result->IsScalar()) {
    return SiteError(site, "computation ", body.name, " returns ",
                     body.result == nullptr ? "nothing" : body.result->ToString(),
                     ", want a scalar");
  }
  const ElementType type = body.result->element_type();
  ASSAY_RETURN_IF_ERROR(CheckScalarFunction(site, body, parameters, {type}));
  Shape result = Shape::Array(type, first.dimensions());
  for (int64_t d = 0; d < first.rank(); ++d) result.set_dynamic(d, first.is_dynamic(d));
  return CheckedResult(site, std::move(result));
}

absl::StatusOr<Shape> InferScan(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDimension));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kNumCarries));
  const auto count = static_cast<int64_t>(site.operands.size());
  const int64_t carries = site.attributes.Integer(Attr::kNumCarries);
  if (carries < 0 || carries >= count) {
    return SiteError(site, "num_carries is ", carries, " for ", count,
                     " operands; want at least one input beside the carries");
  }
  const int64_t inputs = count - carries;
  for (int64_t i = 0; i < count; ++i) ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
  const absl::Span<const int64_t> list = site.attributes.Integers(Attr::kDimension);
  if (list.size() != 1)
    return SiteError(site, "dimensions has ", list.size(), " entries, want one");
  const int64_t d = list[0];
  for (int64_t i = 0; i < inputs; ++i) {
    const Shape& input = *site.operands[i];
    if (d < 0 || d >= input.rank()) {
      return SiteError(site, "dimension ", d, " is not in [0, ", input.rank(), ") of ",
                       DescribeOperand(site, i));
    }
    if (input.dimension(d) == site.operands[0]->dimension(d)) continue;
    return SiteError(site, "dimension ", d, " differs: ", site.operands[0]->dimension(d), " in ",
                     DescribeOperand(site, 0), ", ", input.dimension(d), " in ",
                     DescribeOperand(site, i));
  }
  ASSAY_RETURN_IF_ERROR(CheckScanParameters(site, inputs, d));

  const Shape& root = *site.callees[0].result;
  std::vector<Shape> results = root.IsTuple() ? root.elements() : std::vector<Shape>{root};
  const int64_t outputs = static_cast<int64_t>(results.size()) - carries;
  if (outputs < 0) {
    return SiteError(site, "computation ", site.callees[0].name, " returns ", root.ToString(),
                     ", want at least the ", carries, " carries");
  }
  for (int64_t i = 0; i < static_cast<int64_t>(results.size()); ++i) {
    if (i >= outputs) {
      ASSAY_RETURN_IF_ERROR(
          CheckScanShape(site, "result", i, results[i], *site.operands[inputs + i - outputs]));
      continue;
    }
    if (!results[i].IsArray() || d > results[i].rank()) {
      return SiteError(site, "result ", i, " of computation ", site.callees[0].name, " is ",
                       results[i].ToString(), ", which cannot be stacked along dimension ", d);
    }
    DimVector dimensions(results[i].dimensions().begin(), results[i].dimensions().end());
    dimensions.insert(dimensions.begin() + d, site.operands[0]->dimension(d));
    results[i] = Shape::Array(results[i].element_type(), dimensions);
  }
  return CheckedResult(site, root.IsTuple() ? Shape::Tuple(std::move(results)) : results[0]);
}

}  // namespace assay
