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

struct DeviceKernel {
  int64_t (*threads)(const Instruction& instruction);  // that have work
  absl::Status (*emit)(DeviceKernelContext& context);  // the work of one
  // Sizes of the memory that it needs besides, in bytes; nullptr: none.
  std::vector<int64_t> (*scratch)(const Instruction& instruction) = nullptr;
};
// nullptr for every other op.
const DeviceKernel* FindDeviceKernel(Opcode opcode);

// True for the ops of the table and for those whose kernels are called (called_kernels.h).
bool HasDeviceKernel(Opcode opcode);

int64_t TopKThreads(const Instruction& top_k);
absl::Status EmitTopKElement(DeviceKernelContext& context);
// Sorts lines, a thread each.
int64_t SortThreads(const Instruction& sort);
std::vector<int64_t> SortScratch(const Instruction& sort);
absl::Status EmitSortLine(DeviceKernelContext& context);

}  // namespace assay::gpu
