// Bounds of clamp and select.
#pragma once

#include "reference/bounds/elementwise/binary.h"

namespace assay::reference {

absl::Status BoundSelect(const OpContext& op, Array& result);
absl::Status BoundClampFloat(const OpContext& op, Array& result);

template <EvaluateFn kEvaluate>
absl::Status BoundClamp(const OpContext& op, Array& result) {
  if (!IsFloat(op.type())) return BoundByEnumeration(op, result, kEvaluate);
  return BoundClampFloat(op, result);
}

}  // namespace assay::reference
