// Sums of products inside a kernel, dot and convolution: a loop nest per element, in order; with
// lanes, one for `width` neighbouring results. Where the order of a dot is free (operation
// semantics chapter 11) and both operands are contiguous along the innermost contracted dimension,
// partial sums run in the lanes of a vector.
#pragma once

#include "optimized/codegen/element_emitter.h"

namespace assay {

LaneAccess DotLanes(const Instruction& instruction, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitDot(ElementEmitter& emitter, const ElementEmitter::Frame* frame,
                                      const Instruction& instruction, const ElementIndex& index);
LaneAccess ConvolutionLanes(const Instruction& instruction, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitConvolution(ElementEmitter& emitter,
                                              const ElementEmitter::Frame* frame,
                                              const Instruction& instruction,
                                              const ElementIndex& index);

// Type in which a dot or a convolution accumulates.
ElementType DotAccumulator(const Instruction& dot);

}  // namespace assay
