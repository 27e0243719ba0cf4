// Documents: operation semantics chapter 10 (ReduceWindow, SelectAndScatter); hlo-format 4.4
// ("Window output", "Reducer rule").
#include "spec/ops/shape_checks.h"
#include "spec/ops/shape_inference.h"
#include "spec/ops/shape_rules/window.h"

namespace assay {

namespace {

// The dimensions of the places of the site's window over `base`, an array.
absl::StatusOr<DimVector> WindowDimensions(const OpSite& site, const Shape& base) {
  const absl::Span<const WindowDim> window = site.attributes.Window(Attr::kWindow);
  ASSAY_RETURN_IF_ERROR(CheckListLength(site, Attr::kWindow, window.size(), base.rank()));
  DimVector dimensions;
  for (int64_t d = 0; d < base.rank(); ++d) {
    // A reversed window has the same elements, of which a reduction takes any order, but what a
    // selection finds first depends on it.
    if (window[d].reversal && site.opcode != Opcode::kReduceWindow)
      return SiteError(site, "window dimension ", d, " is reversed");
    ASSAY_ASSIGN_OR_RETURN(int64_t count, WindowCount(site, d, window[d], base.dimension(d)));
    dimensions.push_back(count);
  }
  return dimensions;
}

}  // namespace

absl::StatusOr<Shape> InferReduceWindow(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ElementType> types, CheckInputsAndInitialValues(site));
  const auto n = static_cast<int64_t>(types.size());
  ASSAY_RETURN_IF_ERROR(CheckReducer(site, site.callees[0], types));
  ASSAY_ASSIGN_OR_RETURN(DimVector dimensions, WindowDimensions(site, *site.operands[0]));
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i) {
    Shape result = Shape::Array(types[i], dimensions);
    for (int64_t d = 0; d < result.rank(); ++d)
      result.set_dynamic(d, site.operands[i]->is_dynamic(d));
    results.push_back(std::move(result));
  }
  return CheckedResult(site, n == 1 ? results[0] : Shape::Tuple(std::move(results)));
}

absl::StatusOr<Shape> InferSelectAndScatter(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 0));
  ASSAY_RETURN_IF_ERROR(CheckArray(site, 1));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 1));
  ASSAY_RETURN_IF_ERROR(CheckScalar(site, 2));
  ASSAY_RETURN_IF_ERROR(CheckSameType(site, 0, 2));
  const Shape& operand = *site.operands[0];
  const ElementType type = operand.element_type();
  ASSAY_RETURN_IF_ERROR(
      CheckScalarFunction(site, site.callees[0], {type, type}, {ElementType::kPred}));
  ASSAY_RETURN_IF_ERROR(CheckReducer(site, site.callees[1], {type}));
  for (const WindowDim& along : site.attributes.Window(Attr::kWindow)) {
    if (along.base_dilation != 1 || along.window_dilation != 1)
      return SiteError(site, "the window is dilated, which only reduce-window allows");
  }
  ASSAY_ASSIGN_OR_RETURN(DimVector places, WindowDimensions(site, operand));
  const Shape& source = *site.operands[1];
  if (source.rank() != operand.rank()) {
    return SiteError(site, "ranks differ: ", DescribeOperand(site, 0), " has ", operand.rank(),
                     ", ", DescribeOperand(site, 1), " has ", source.rank());
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (source.dimension(d) == places[d]) continue;
    return SiteError(site, "dimension ", d, " of the source ", DescribeOperand(site, 1),
                     " has size ", source.dimension(d), ", the window has ", places[d],
                     " places there");
  }
  return operand;
}

}  // namespace assay
