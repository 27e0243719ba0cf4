// Lowerings of the data movement ops, for the table in element_lowerings.cc.
#pragma once

#include "absl/algorithm/container.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

#define ASSAY_MOVEMENT(Op)                                                                         \
  absl::StatusOr<ElementValues> Emit##Op(                                                          \
      ElementEmitter& emitter, const ElementEmitter::Frame* frame, const Instruction& instruction, \
      const ElementIndex& index);
ASSAY_MOVEMENT(Broadcast)
ASSAY_MOVEMENT(Reshape)
ASSAY_MOVEMENT(Bitcast)
ASSAY_MOVEMENT(Transpose)
ASSAY_MOVEMENT(Reverse)
ASSAY_MOVEMENT(Slice)
ASSAY_MOVEMENT(DynamicSlice)
ASSAY_MOVEMENT(DynamicUpdateSlice)
ASSAY_MOVEMENT(Pad)
ASSAY_MOVEMENT(Concatenate)
ASSAY_MOVEMENT(Iota)
ASSAY_MOVEMENT(BitcastConvert)
#undef ASSAY_MOVEMENT

// copy and the other identities.
absl::StatusOr<ElementValues> EmitCopy(ElementEmitter& emitter, const ElementEmitter::Frame* frame,
                                       const Instruction& instruction, const ElementIndex& index);

}  // namespace assay
