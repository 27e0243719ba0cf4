// Recognises combiners and windows.
#include "optimized/analysis/walks/reductions.h"

#include "absl/algorithm/container.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

const Instruction* SkipConverts(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kConvert &&
         IsFloat(instruction->shape().element_type()) &&
         IsFloat(instruction->operand(0)->shape().element_type())) {
    instruction = instruction->operand(0);
  }
  return instruction;
}

}  // namespace

std::optional<Opcode> RecognisedCombiner(const Computation& computation) {
  const Instruction* root = SkipConverts(computation.root());
  if (!Info(root->opcode()).Is(kAssociative)) return std::nullopt;
  if (computation.parameter_count() != 2) return std::nullopt;
  const Instruction* x = SkipConverts(root->operand(0));
  const Instruction* y = SkipConverts(root->operand(1));
  if (x->opcode() != Opcode::kParameter || y->opcode() != Opcode::kParameter || x == y) {
    return std::nullopt;
  }
  // A detour through a narrower type rounds every step: that is another function.
  if (BitWidth(root->shape().element_type()) <
      BitWidth(computation.root()->shape().element_type())) {
    return std::nullopt;
  }
  return root->opcode();
}

std::optional<Opcode> CombinerOf(const Instruction& reduction) {
  return reduction.operand_count() == 2 ? RecognisedCombiner(*reduction.callee()) : std::nullopt;
}

ReduceDims ReduceDims::Of(const Instruction& reduce) {
  ReduceDims result;
  absl::Span<const int64_t> dims = reduce.attributes().Integers(Attr::kDimensions);
  for (int64_t d = 0; d < reduce.operand(0)->shape().rank(); ++d) {
    (absl::c_linear_search(dims, d) ? result.reduced : result.kept).push_back(d);
  }
  return result;
}

bool IsSingle(const WindowDim& window) {
  return window.size == 1 && window.stride == 1 && window.low == 0 && window.high == 0 &&
         window.base_dilation == 1;
}

std::optional<CumulativeWindow> RecogniseCumulative(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kReduceWindow) return std::nullopt;
  const Shape& base = instruction.operand(0)->shape();
  const absl::Span<const WindowDim> window = instruction.attributes().Window(Attr::kWindow);
  std::optional<CumulativeWindow> found;
  for (size_t d = 0; d < window.size(); ++d) {
    if (IsSingle(window[d])) continue;
    const WindowDim& w = window[d];
    const int64_t size = base.dimension(static_cast<int64_t>(d));
    const bool forward = w.low == size - 1 && w.high == 0,
               reverse = w.low == 0 && w.high == size - 1;
    if (found || size < 2 || w.size != size || w.stride != 1 || w.window_dilation != 1 ||
        w.base_dilation != 1 || !(forward || reverse)) {
      return std::nullopt;
    }
    found = CumulativeWindow{static_cast<int64_t>(d), reverse};
  }
  if (!found || FirstLeaf(instruction.shape()).ElementCount() == 0) return std::nullopt;
  if (found->reverse && !CombinerOf(instruction)) return std::nullopt;
  return found;
}

LineSizes LineSizes::Of(const Instruction& instruction, const CumulativeWindow& window) {
  LineSizes sizes;
  const Shape& base = instruction.operand(0)->shape();
  for (int64_t d = 0; d < base.rank(); ++d) {
    int64_t& size = d < window.dim ? sizes.outer : d == window.dim ? sizes.along : sizes.inner;
    size *= base.dimension(d);
  }
  return sizes;
}

const Shape& FirstLeaf(const Shape& shape) {
  return shape.IsTuple() ? shape.elements().front() : shape;
}

}  // namespace assay
