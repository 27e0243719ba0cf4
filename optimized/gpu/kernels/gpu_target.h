// GPUs as plans know them.
#pragma once

#include "optimized/target/target.h"

namespace assay::gpu {

// Tells plans what they need to know. All architectures have code for the same ops.
const Target& GpuTarget();

}  // namespace assay::gpu
