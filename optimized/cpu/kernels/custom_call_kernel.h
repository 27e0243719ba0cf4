// Custom calls of routines that the runtime has.
#pragma once

#include "optimized/cpu/kernels/array_kernels.h"

namespace assay {

// Emits a call that LapackPlanOf (custom_calls.h) has a plan for.
absl::Status EmitCustomCall(ArrayKernelContext& context);

}  // namespace assay
