// Places of window positions, with padding, dilation and holes.
#include "optimized/codegen/windows.h"

#include "optimized/codegen/loop_nest.h"

namespace assay {

using llvm::Value;

WindowPlace PlaceInWindow(ElementEmitter& emitter, const WindowDim& window, int64_t places,
                          int64_t size, Value* number, Value* position) {
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  const KernelBends& bends = emitter.builder().bends();
  const int64_t stride = bends.Number("optimize-kernel/window-stride", nullptr, window.stride);
  const int64_t apart =
      bends.Number("optimize-kernel/window-dilation", nullptr, window.window_dilation);
  Value* at = emitter.IndexAdd(emitter.IndexMul(number, stride), emitter.IndexMul(position, apart));
  const int64_t low = bends.Number("optimize-kernel/window-low", nullptr, window.low);
  at = emitter.IndexAdd(at, emitter.Index(-low));
  const int64_t highest =
      (places - 1) * window.stride + (window.size - 1) * window.window_dilation - window.low;
  const bool outside = window.low > 0 || highest > (size - 1) * window.base_dilation;
  WindowPlace place{at, nullptr};
  if (window.base_dilation > 1) {
    // A negative place, taken as unsigned, has a quotient far beyond any size.
    Value* step =
        emitter.Index(bends.Number("optimize-kernel/base-dilation", nullptr, window.base_dilation));
    place.exists = ir.CreateICmpEQ(ir.CreateURem(at, step), emitter.Index(0));
    place.index = ir.CreateUDiv(at, step);
    if (window.low > 0) {
      place.exists = And(emitter, place.exists, ir.CreateICmpSGE(at, emitter.Index(0)));
    }
  }
  if (outside) place.exists = And(emitter, place.exists, IsInRange(emitter, place.index, size));
  if (place.exists != nullptr) {
    place.index = ir.CreateSelect(place.exists, place.index, emitter.Index(0));
  }
  return place;
}

}  // namespace assay
