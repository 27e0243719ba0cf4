// Scatter and select-and-scatter: first the result gets what it starts from, an element per thread;
// then updates are combined in, by threads whose parts never meet. Where parts would meet and their
// order matters, one thread does all.
#include "optimized/codegen/scatter.h"

#include "optimized/gpu/kernels/array_kernels.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

// Operands have one shape but for their types.
absl::Status CopyOperands(DeviceKernelContext& context) {
  ElementEmitter& e = context.elements;
  const Instruction& scatter = context.instruction();
  for (int64_t k = 0; k < scatter.operand_count() / 2; ++k) {
    const ElementType type = scatter.operand(k)->shape().element_type();
    const auto at = static_cast<size_t>(k);
    llvm::Value* from = e.Address(type, context.operands[at][0], context.thread);
    e.builder().Store(type, e.builder().Load(type, from, 1),
                      e.Address(type, context.results[at], context.thread));
  }
  return absl::OkStatus();
}

absl::Status Update(DeviceKernelContext& context) {
  const ScatterSplit split = SplitOfScatter(context.instruction());
  ScatterContext scatter{context.elements, context.instruction(), context.results};
  scatter.atomic = split.atomic;
  if (split.kind == ScatterSplit::kWhole) return EmitScatterUpdates(scatter);
  return EmitScatterPart(scatter, split.kind, context.thread);
}

absl::Status Start(DeviceKernelContext& context) {
  ScatterContext scatter{context.elements, context.instruction(), context.results};
  return EmitStartValue(scatter, context.thread);
}

absl::Status Select(DeviceKernelContext& context) {
  ScatterContext scatter{context.elements, context.instruction(), context.results};
  return EmitSelectedWindows(scatter, context.thread);
}

}  // namespace

std::vector<DeviceStage> ScatterStages(const Instruction& scatter, const KernelBuffers& buffers) {
  const int64_t count = scatter.operand(0)->shape().ElementCount();
  return {{buffers.update_in_place ? 0 : count, CopyOperands},
          {SplitOfScatter(scatter).parts, Update}};
}

std::vector<DeviceStage> SelectAndScatterStages(const Instruction& select_and_scatter,
                                                const KernelBuffers&) {
  return {{select_and_scatter.shape().ElementCount(), Start},
          {ApartWindows(select_and_scatter), Select}};
}

}  // namespace assay::gpu
