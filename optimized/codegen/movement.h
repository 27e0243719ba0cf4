// Lowerings of the data movement ops, for the table in element_lowerings.cc.
#pragma once

#include "absl/algorithm/container.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

// Same index everywhere; operands of rank 0 beside others are uniform.
LaneAccess ElementwiseLanes(const Instruction& instruction, int64_t operand, int lane_dim);

#define ASSAY_MOVEMENT(Op)                                                                         \
  LaneAccess Op##Lanes(const Instruction& instruction, int64_t operand, int lane_dim);             \
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
bool BroadcastIsLinear(const Instruction& instruction);
bool BitcastConvertIsLinear(const Instruction& instruction);
// True when operand and result of a bitcast hold their elements in the same order, row-major.
bool BitcastKeepsOrder(const Instruction& instruction);

}  // namespace assay
