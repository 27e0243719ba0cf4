// Ops whose result no thread computes as one element: each has a kernel of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "optimized/codegen/element_emitter.h"
#include "optimized/gpu/templates/template_plan.h"
#include "optimized/plan/kernel_plan.h"

namespace assay::gpu {

struct DeviceKernelContext {
  const KernelPlan& plan;
  ElementEmitter& elements;  // operands are its sources
  const KernelBuffers& buffers;
  llvm::Function* function;
  llvm::Value* thread;  // i64: of [0, threads); in a stage of blocks, of [0, block_size)
  std::vector<std::vector<llvm::Value*>> operands;  // pointers by leaf; row-major arrays
  std::vector<llvm::Value*> results;                // by leaf
  std::vector<llvm::Value*> scratch;                // as DeviceKernel::scratch says
  llvm::Value* block = nullptr;                     // i64: in a stage of blocks

  const Instruction& instruction() const { return *plan.instruction; }
  llvm::IRBuilder<>& ir() const { return elements.builder().ir(); }
};

// One launch.
struct DeviceStage {
  int64_t threads = 0;  // that have work; 0: there is none
  std::function<absl::Status(DeviceKernelContext& context)> emit;  // the work of one
  // Above 0: the threads are those of whole blocks of so many, which share memory; all of them run.
  int64_t block_size = 0;
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

// Kernels that a template makes as a whole (template_plan.h).
struct WholeKernel {
  std::vector<DeviceStage> stages;
  std::vector<int64_t> scratch;  // bytes, shared by all stages
};
WholeKernel KernelOf(const KernelPlan& plan, const TemplateChoice& choice);
WholeKernel ScanKernel(const Instruction& window, const TemplateChoice& choice);
WholeKernel SortKernel(const Instruction& sort, const TemplateChoice& choice);
WholeKernel TopKernel(const Instruction& top_k, const TemplateChoice& choice);

}  // namespace assay::gpu
