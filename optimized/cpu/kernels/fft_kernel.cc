// Fft: a call of the runtime. Document: operation semantics chapter 11.
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/runtime/kernels/fft.h"
#include "spec/base/strings.h"

namespace assay {

absl::Status EmitFft(ArrayKernelContext& context) {
  const Attributes& attributes = context.instruction.attributes();
  const absl::Span<const int64_t> lengths = attributes.Integers(Attr::kFftLength);
  const Shape& shape = context.instruction.shape();
  const auto rank = static_cast<int64_t>(lengths.size());
  FftShape plan;
  plan.isa = static_cast<int64_t>(context.isa());
  const KernelBends& bends = context.elements.builder().bends();
  plan.kind = bends.Number("optimize-kernel/fft-kind", &context.instruction,
                           attributes.Integer(Attr::kFftType));
  plan.rank = bends.Number("optimize-kernel/fft-rank", &context.instruction, rank);
  for (int64_t d = 0; d + rank < shape.rank(); ++d) plan.batch *= shape.dimension(d);
  plan.batch = bends.Number("optimize-kernel/fft-batch", &context.instruction, plan.batch);
  for (int64_t d = 0; d < rank; ++d) {
    plan.sizes[d] = bends.Number("optimize-kernel/fft-length", &context.instruction, lengths[d]);
  }
  context.CallRuntime(StrCat("assay_fft_", Name(ComponentType(shape.element_type()))).c_str(),
                      {context.RunContextOf(), PlanData(context.module, plan),
                       context.operands[0][0], context.results[0]});
  return absl::OkStatus();
}

}  // namespace assay
