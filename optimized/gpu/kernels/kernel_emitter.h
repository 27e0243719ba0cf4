// Emits the kernels of one step of a program, as LLVM IR for NVIDIA GPUs: a thread computes one
// element of the results, or the nest's template says how threads share the work. A kernel's
// arguments are the addresses of its buffers, in global memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "optimized/gpu/simulator/simulator.h"
#include "optimized/gpu/target/architecture.h"
#include "optimized/gpu/templates/template_plan.h"
#include "optimized/plan/kernel_plan.h"

namespace assay::gpu {

struct BufferArgument {
  BufferSlice slice;
  int64_t bytes = 0;
};

struct EmittedKernel {
  llvm::Function* function = nullptr;
  LaunchShape shape;
  std::vector<BufferArgument> arguments;
  std::vector<int64_t> scratch;  // bytes of memory of its own that it is given behind those
  // The debug locations of its code have line k + 1 where it computes instruction k.
  std::vector<const Instruction*> computes;
};

struct KernelContext {
  llvm::Module& module;
  const Architecture& architecture;
  const TemplateChoices* templates = nullptr;  // nullptr: an element per thread everywhere
};

// A module for kernels, with the data layout of the GPU.
std::unique_ptr<llvm::Module> NewKernelModule(llvm::LLVMContext& context, const std::string& name);

// One kernel per nest of the plan, in the order in which they run; none where nothing is computed.
absl::StatusOr<std::vector<EmittedKernel>> EmitKernels(const KernelContext& context,
                                                       const KernelPlan& plan,
                                                       const KernelBuffers& buffers);

}  // namespace assay::gpu
