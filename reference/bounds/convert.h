// Bounds of conversions.
#pragma once

#include "reference/bounds/elements.h"
#include "reference/convert_ops.h"

namespace assay::reference {

absl::Status BoundBitcastConvert(const OpContext& op, Array& result);
absl::Status BoundReducePrecision(const OpContext& op, Array& result);
absl::Status BoundFloatToFloat(const OpContext& op, Array& result);
absl::Status BoundFloatToOther(const OpContext& op, Array& result);
absl::Status BoundOtherToFloat(const OpContext& op, Array& result);

template <EvaluateFn kEvaluate>
absl::Status BoundConvert(const OpContext& op, Array& result) {
  const bool from_float = IsFloat(op.literal(0).element_type()), to_float = IsFloat(op.type());
  if (from_float && to_float) return BoundFloatToFloat(op, result);
  if (from_float) return BoundFloatToOther(op, result);
  if (to_float) return BoundOtherToFloat(op, result);
  return BoundByEnumeration(op, result, kEvaluate);
}

}  // namespace assay::reference
