// A loop whose condition and body are a few small kernels, as one kernel: a block runs them one
// after the other, with barriers between them, until the condition does not hold. No launch, and no
// word to the host, per trip.
#pragma once

#include "absl/status/statusor.h"
#include "optimized/buffers/buffer_assignment.h"
#include "optimized/gpu/kernels/kernel_emitter.h"
#include "optimized/plan/program_plan.h"

namespace assay::gpu {

// `loop` is a step of `caller`, for which the template was chosen. Copies before it are not part of
// the kernel.
absl::StatusOr<EmittedKernel> EmitLoopKernel(const KernelContext& context, const ProgramPlan& plan,
                                             const BufferAssignment& buffers,
                                             const FramePlan& caller, const StepPlan& loop,
                                             const TemplateChoice& choice);

}  // namespace assay::gpu
