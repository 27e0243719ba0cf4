// Bounds of conversions.
#pragma once

#include "reference/bounds/elements.h"
#include "reference/bounds/elementwise/narrow.h"
#include "reference/scalar/convert_ops.h"

namespace assay::reference {

absl::Status BoundBitcastConvert(const OpContext& op, Array& result);
absl::Status BoundReducePrecision(const OpContext& op, Array& result);
absl::Status BoundFloatToFloat(const OpContext& op, Array& result);
absl::Status BoundFloatToOther(const OpContext& op, Array& result);
absl::Status BoundOtherToFloat(const OpContext& op, Array& result);

template <EvaluateFn kEvaluate>
absl::Status BoundConvert(const OpContext& op, Array& result) {
  const bool from_float = IsFloat(op.literal(0).element_type()), to_float = IsFloat(op.type());
  if (!from_float && !to_float) return BoundByEnumeration(op, result, kEvaluate);
  if (!IsComputed(op.literal(0).element_type()) || !IsComputed(op.type()))
    return BoundNarrowConvert(op, result);
  if (from_float && to_float) return BoundFloatToFloat(op, result);
  if (from_float) return BoundFloatToOther(op, result);
  return BoundOtherToFloat(op, result);
}

}  // namespace assay::reference
