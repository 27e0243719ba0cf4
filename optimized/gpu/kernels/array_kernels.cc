// The table of kernels.
#include "optimized/gpu/kernels/array_kernels.h"

#include <cstdlib>

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

WholeKernel KernelOf(const KernelPlan& plan, const TemplateChoice& choice) {
  switch (choice.kind) {
    case KernelTemplate::kScan:
      return ScanKernel(*plan.instruction, choice);
    case KernelTemplate::kSortTiles:
      return SortKernel(*plan.instruction, choice);
    case KernelTemplate::kTopTiles:
      return TopKernel(*plan.instruction, choice);
    default:
      std::abort();  // a template of nests
  }
}

bool HasDeviceKernel(Opcode opcode) {
  return IsCalledKernel(opcode) || FindDeviceKernel(opcode) != nullptr;
}

}  // namespace assay::gpu
