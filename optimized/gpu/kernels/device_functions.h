// The functions of the runtime that kernels call, as code for GPUs (optimized/runtime/device).
#pragma once

#include "absl/status/status.h"
#include "llvm/IR/Module.h"

namespace assay::gpu {

// Gives bodies to the functions of the runtime that `kernels` declares and has none of yet: those
// that there is code for, and what they call. The others stay as they are.
absl::Status LinkDeviceFunctions(llvm::Module& kernels);

}  // namespace assay::gpu
