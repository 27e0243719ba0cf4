// Scatter and select-and-scatter in one loop; the copy of the operand comes first.
#include "optimized/codegen/scatter.h"

#include "optimized/cpu/kernels/array_kernels.h"

namespace assay {

absl::Status EmitScatter(ArrayKernelContext& context) {
  const Instruction& i = context.instruction;
  for (int64_t k = 0; k < i.operand_count() / 2 && !context.buffers.update_in_place; ++k) {
    llvm::Align align(1);
    context.ir().CreateMemCpy(context.results[k], align, context.operands[k][0], align,
                              i.operand(k)->shape().ByteSize());
  }
  ScatterContext scatter{context.elements, i, context.results};
  if (context.plan.takes_better) {
    scatter.width = context.elements.vector_width(i.operand(0)->shape().element_type());
    const KernelBends* bends = context.plan.form_bends;
    if (bends != nullptr) scatter.short_by = bends->loop_bound_offset.value_or(0);
  }
  return EmitScatterUpdates(scatter);
}

absl::Status EmitSelectAndScatter(ArrayKernelContext& context) {
  ScatterContext scatter{context.elements, context.instruction, context.results};
  return EmitSelectAndScatter(scatter);
}

}  // namespace assay
