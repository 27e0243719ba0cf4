// The operand is copied to the same layout without tiles first.
#include "conformance/dumps/tiled_bitcasts.h"

#include <vector>

namespace assay {
namespace {

// Sizes of the dimensions from the slowest in memory to the fastest, without those of size 1.
std::vector<int64_t> SizesInMemory(const Shape& shape) {
  std::vector<int64_t> sizes;
  const auto minor_to_major = shape.layout().minor_to_major();
  for (auto d = minor_to_major.rbegin(); d != minor_to_major.rend(); ++d)
    if (shape.dimension(*d) != 1) sizes.push_back(shape.dimension(*d));
  return sizes;
}

Shape WithoutTiles(const Shape& shape) {
  Shape plain = shape;
  plain.set_layout(Layout(shape.layout().minor_to_major()));
  return plain;
}

bool IsPlainInMemory(const Instruction& bitcast) {
  const Shape &from = bitcast.operand(0)->shape(), &to = bitcast.shape();
  return from.IsArray() && to.IsArray() && from.element_type() == to.element_type() &&
         (HasTiles(from) || HasTiles(to)) && SizesInMemory(from) == SizesInMemory(to);
}

}  // namespace

bool HasTiles(const Shape& shape) {
  return shape.IsArray() && shape.layout().extras() != nullptr &&
         !shape.layout().extras()->tiles.empty();
}

void UntileBitcasts(Module& module) {
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : computation->PostOrder()) {
      if (instruction->opcode() != Opcode::kBitcast || instruction->operand_count() != 1 ||
          !IsPlainInMemory(*instruction))
        continue;
      Instruction* operand = instruction->operand(0);
      Instruction* copy =
          computation->Add(Opcode::kCopy, WithoutTiles(operand->shape()), {operand});
      computation->MoveBefore(copy, instruction);
      instruction->ReplaceOperand(0, copy);
      instruction->mutable_shape() = WithoutTiles(instruction->shape());
    }
  }
}

}  // namespace assay
