// Checks an assignment of buffers by running it on the names of values instead of values: each step
// must find in every operand's memory the value that it is to read, whole and as it was made. So no
// two values share bytes while both are needed, in any frame, whichever branches are taken. Knows
// nothing of how buffers were chosen. Runs in debug builds and where passes are verified.
#pragma once

#include "absl/status/status.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/pipeline/pipeline.h"

namespace assay {

// True in debug builds, and where passes are verified.
bool MustCheckBuffers(const PipelineOptions& options);

// An internal error names the step, what it was to read, and who wrote there.
absl::Status CheckBuffers(const BufferAssignment& buffers, const Module& module);

}  // namespace assay
