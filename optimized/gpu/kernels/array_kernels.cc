// The table of kernels. Those whose updates have an order run in one thread.
#include "optimized/gpu/kernels/array_kernels.h"

#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/gpu/kernels/called_kernels.h"

namespace assay::gpu {
namespace {

int64_t OneThread(const Instruction&) { return 1; }

// The loops over a whole array are the same for every machine.
template <ArrayKernelFn kEmit>
absl::Status InOneThread(DeviceKernelContext& context) {
  ArrayKernelContext whole{*context.function->getParent(),
                           context.plan,
                           context.elements,
                           context.instruction(),
                           context.buffers,
                           context.function,
                           context.operands,
                           context.results};
  return kEmit(whole);
}

struct Row {
  Opcode opcode;
  DeviceKernel kernel;
};
constexpr Row kRows[] = {
    {Opcode::kScatter, {OneThread, InOneThread<EmitScatter>}},
    {Opcode::kSelectAndScatter, {OneThread, InOneThread<EmitSelectAndScatter>}},
    {Opcode::kSort, {SortThreads, EmitSortLine, SortScratch}},
    {Opcode::kTopK, {TopKThreads, EmitTopKElement}},
};

}  // namespace

const DeviceKernel* FindDeviceKernel(Opcode opcode) {
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return &row.kernel;
  }
  return nullptr;
}

bool HasDeviceKernel(Opcode opcode) {
  return IsCalledKernel(opcode) || FindDeviceKernel(opcode) != nullptr;
}

}  // namespace assay::gpu
