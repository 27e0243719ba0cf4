// Custom calls of routines that the runtime has.
#pragma once

#include "optimized/cpu/kernels/array_kernels.h"

namespace assay {

// Emits a call that LapackCallOf (custom_calls.h) knows.
absl::Status EmitCustomCall(ArrayKernelContext& context);

}  // namespace assay
