// The table of kernels.
#include "optimized/gpu/kernels/array_kernels.h"

#include "optimized/gpu/kernels/called_kernels.h"

namespace assay::gpu {
namespace {

struct Row {
  Opcode opcode;
  DeviceKernel kernel;
};
constexpr Row kRows[] = {
    {Opcode::kScatter, {ScatterStages}},
    {Opcode::kSelectAndScatter, {SelectAndScatterStages}},
    {Opcode::kSort, {SortStages, SortScratch}},
    {Opcode::kTopK, {TopKStages}},
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
