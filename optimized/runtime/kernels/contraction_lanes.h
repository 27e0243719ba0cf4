// Contractions too small for tiles whose batch lies side by side in memory, as in depthwise
// convolutions: their vectors run along the batch.
#pragma once

#include <cstdint>

#include "optimized/runtime/kernels/contraction.h"

namespace assay {

struct RunContext;

// True if the plan's only batch axis can be the lanes of vectors.
bool RunsAlongBatch(const ContractionPlan& plan);

// Runs such a plan, windows and all; its operands are not dilated.
void RunAlongBatch(RunContext* context, const ContractionPlan& plan, const void* lhs,
                   const void* rhs, void* out);

}  // namespace assay
