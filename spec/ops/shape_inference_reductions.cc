// Documents: operation semantics chapter 10, hlo-format 4.4 ("Reducer rule").
#include <algorithm>

#include "spec/ir/computation.h"
#include "spec/ops/inference_util.h"
#include "spec/ops/shape_inference.h"

namespace assay {
absl::StatusOr<Shape> InferReduce(const OpSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckOperandCount(site));
  ASSAY_RETURN_IF_ERROR(CheckCalleeCount(site));
  ASSAY_RETURN_IF_ERROR(CheckPresent(site, Attr::kDimensions));
  const int64_t count = static_cast<int64_t>(site.operands.size());
  if (count % 2 != 0) {
    return SiteError(site, "has ", count, " operands; want as many initial values as inputs");
  }
  const int64_t n = count / 2;
  std::vector<ElementType> types;
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_RETURN_IF_ERROR(CheckArray(site, i));
    ASSAY_RETURN_IF_ERROR(CheckSameDimensions(site, 0, i));
    ASSAY_RETURN_IF_ERROR(CheckScalar(site, n + i));
    ASSAY_RETURN_IF_ERROR(CheckSameType(site, i, n + i));
    types.push_back(site.operands[i]->element_type());
  }
  const Shape& input = *site.operands[0];
  const absl::Span<const int64_t> reduced = site.attributes.Integers(Attr::kDimensions);
  ASSAY_RETURN_IF_ERROR(CheckDimensionList(site, Attr::kDimensions, reduced, input.rank()));
  ASSAY_RETURN_IF_ERROR(CheckReducer(site, *site.callees[0], types));

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

}  // namespace assay
