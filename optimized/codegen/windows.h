// Computes where the positions of a window fall on the array below it, for reduce-window,
// convolution and select-and-scatter. Document: operation semantics chapters 10, 11.
#pragma once

#include "optimized/codegen/element_emitter.h"

namespace assay {

// An element of the array that a position of a window reads.
struct WindowPlace {
  llvm::Value* index = nullptr;   // 0 where there is none
  llvm::Value* exists = nullptr;  // false for padding and holes; null: always true
};
// In one dimension: `position` in window `number` of `places`, over `size` elements.
WindowPlace PlaceInWindow(ElementEmitter& emitter, const WindowDim& window, int64_t places,
                          int64_t size, llvm::Value* number, llvm::Value* position);

}  // namespace assay
