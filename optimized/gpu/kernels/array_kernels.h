// Ops whose result no thread computes as one element: each has a kernel of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/plan/kernel_plan.h"

namespace assay::gpu {

struct DeviceKernelContext {
  const KernelPlan& plan;
  ElementEmitter& elements;  // operands are its sources
  const KernelBuffers& buffers;
  llvm::Function* function;
  llvm::Value* thread;                              // i64: of [0, threads)
  std::vector<std::vector<llvm::Value*>> operands;  // pointers by leaf; row-major arrays
  std::vector<llvm::Value*> results;                // by leaf
  std::vector<llvm::Value*> scratch;                // as DeviceKernel::scratch says

  const Instruction& instruction() const { return *plan.instruction; }
  llvm::IRBuilder<>& ir() const { return elements.builder().ir(); }
};

// One launch.
struct DeviceStage {
  int64_t threads = 0;                                           // that have work; 0: there is none
  absl::Status (*emit)(DeviceKernelContext& context) = nullptr;  // the work of one
};

struct DeviceKernel {
  std::vector<DeviceStage> (*stages)(const Instruction& instruction, const KernelBuffers& buffers);
  // Sizes of the memory that it needs besides, in bytes; nullptr: none.
  std::vector<int64_t> (*scratch)(const Instruction& instruction) = nullptr;
};
// nullptr for every other op.
const DeviceKernel* FindDeviceKernel(Opcode opcode);

// True for the ops of the table and for those whose kernels are called (called_kernels.h).
bool HasDeviceKernel(Opcode opcode);

std::vector<DeviceStage> ScatterStages(const Instruction& scatter, const KernelBuffers& buffers);
std::vector<DeviceStage> SelectAndScatterStages(const Instruction& select_and_scatter,
                                                const KernelBuffers& buffers);
std::vector<DeviceStage> TopKStages(const Instruction& top_k, const KernelBuffers& buffers);
std::vector<DeviceStage> SortStages(const Instruction& sort, const KernelBuffers& buffers);
std::vector<int64_t> SortScratch(const Instruction& sort);

}  // namespace assay::gpu
