// Ops on narrow types (reference/values/narrow_types.h) by the rows for the wider types: operands
// are converted before and results after.
#pragma once

#include "reference/values/op_context.h"

namespace assay::reference {

// `array` in another element type, by the rules of convert; NaNs that get wider keep their
// payload.
absl::StatusOr<Array> ConvertArray(const OpContext& op, const Array& array, ElementType type,
                                   bool bounding);

// Applies the op by its row for the wider types; `result` has the narrow type.
absl::Status ApplyWidened(const OpContext& op, const OpEvaluation& row, bool bounding,
                          Array& result);

}  // namespace assay::reference
