// RngBitGenerator and RngGetAndUpdateState: calls of the runtime. Document: operation semantics
// chapter 13.
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/runtime/random.h"

namespace assay {

absl::Status EmitRngBitGenerator(ArrayKernelContext& context) {
  ElementEmitter& e = context.elements;
  const Shape& state = context.instruction.operand(0)->shape();
  const Shape& shape = context.instruction.shape().elements()[1];
  const auto algorithm = context.instruction.attributes().Word<RngAlgorithm>(Attr::kRngAlgorithm);
  const int bits = BitWidth(shape.element_type());
  const int64_t mask =
      e.builder().bends().Number("optimize-kernel/random-mask", &context.instruction,
                                 bits >= 64 ? -1 : (int64_t{1} << bits) - 1);
  std::vector<llvm::Value*> arguments = {
      context.RunContextOf(),
      context.operands[0][0],
      context.results[0],
      context.results[1],
      e.Index(e.builder().bends().Number("optimize-kernel/random-count", &context.instruction,
                                         shape.ElementCount())),
      e.Index(StorageBytes(shape.element_type())),
      e.Index(mask)};
  if (algorithm == RngAlgorithm::kThreeFry) {
    int64_t size = 1, inner = 1;
    if (shape.rank() > 0) {
      const int64_t split = ThreeFrySplitDimension(shape.dimensions());
      size = shape.dimension(split);
      for (int64_t d = split + 1; d < shape.rank(); ++d) inner *= shape.dimension(d);
    }
    arguments.push_back(e.Index(size));
    arguments.push_back(e.Index(inner));
    context.CallRuntime("assay_three_fry_bits", arguments);
  } else {
    arguments.push_back(e.Index(state.ElementCount()));
    context.CallRuntime("assay_philox_bits", arguments);
  }
  return absl::OkStatus();
}

absl::Status EmitRngGetAndUpdateState(ArrayKernelContext& context) {
  const int64_t delta = context.instruction.attributes().Integer(Attr::kDelta);
  context.CallRuntime("assay_next_random_state",
                      {context.RunContextOf(), context.results[0], context.elements.Index(delta)});
  return absl::OkStatus();
}

}  // namespace assay
