// The kernel by which devices reduce their arrays: accumulator[i] = f(accumulator[i], operand[i]).
#pragma once

#include "absl/status/statusor.h"
#include "optimized/gpu/kernels/kernel_emitter.h"
#include "spec/ir/module.h"

namespace assay::gpu {

// Its arguments are the accumulator, the operand and, as 64 bits, the number of elements; a thread
// per element. `collective` has a computation.
absl::StatusOr<llvm::Function*> EmitCombineKernel(const KernelContext& context,
                                                  const Instruction& collective);
LaunchShape CombineShape(int64_t count);

}  // namespace assay::gpu
