// Computes how often a window fits. Document: hlo-format 4.4 (window output), operation semantics
// 10 (ReduceWindow) and 11 (ConvGeneral).
#pragma once

#include "absl/status/statusor.h"
#include "spec/ops/op_table.h"

namespace assay {

// The number of places of a window along one dimension of `size` elements, after dilation and
// padding, which may be negative. Errors name dimension `d`: sizes, strides and dilations below 1,
// and numbers that do not fit in 63 bits.
absl::StatusOr<int64_t> WindowCount(const OpSite& site, int64_t d, const WindowDim& window,
                                    int64_t size);

}  // namespace assay
