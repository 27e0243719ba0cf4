// Sums of products inside a kernel, dot and convolution: a loop nest per element, in order; with
// lanes, one for `width` neighbouring results. Where the order of a dot is free (operation
// semantics chapter 11) and both operands are contiguous along the innermost contracted dimension,
// partial sums run in the lanes of a vector.
#pragma once

#include "optimized/codegen/element_emitter.h"

namespace assay {

absl::StatusOr<ElementValues> EmitDot(ElementEmitter& emitter, const ElementEmitter::Frame* frame,
                                      const Instruction& instruction, const ElementIndex& index);
absl::StatusOr<ElementValues> EmitConvolution(ElementEmitter& emitter,
                                              const ElementEmitter::Frame* frame,
                                              const Instruction& instruction,
                                              const ElementIndex& index);

}  // namespace assay
