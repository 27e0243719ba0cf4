// Windows over arrays: reduce-window and convolution, a loop nest per result element. Document:
// operation semantics chapters 10, 11.
#pragma once

#include "optimized/codegen/element_emitter.h"

namespace assay {

absl::StatusOr<ElementValues> EmitReduceWindow(ElementEmitter& e,
                                               const ElementEmitter::Frame* frame,
                                               const Instruction& i, const ElementIndex& index);

LaneAccess ConvolutionLanes(const Instruction& i, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitConvolution(ElementEmitter& e, const ElementEmitter::Frame* frame,
                                              const Instruction& i, const ElementIndex& index);

// An element of the base that a position of a window reads.
struct WindowPlace {
  llvm::Value* index = nullptr;   // 0 where there is none
  llvm::Value* exists = nullptr;  // false for padding and holes; null: always true
};
// In one dimension: window number `o` of `places`, position `k` in it, over `size` elements.
WindowPlace PlaceInWindow(ElementEmitter& e, const WindowDim& window, int64_t places, int64_t size,
                          llvm::Value* o, llvm::Value* k);

}  // namespace assay
