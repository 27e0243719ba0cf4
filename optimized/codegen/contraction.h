// Reductions and dots inside a kernel: a loop per element, in order; with lanes, one loop for
// `width` neighbouring results. Where the order is free (operation semantics chapter 10, 11; ORDER)
// and the operand is contiguous along the innermost reduced dimension, partial results run in the
// lanes of a vector.
#pragma once

#include <optional>

#include "optimized/codegen/element_emitter.h"

namespace assay {

// The op of a recognised combiner (operation semantics chapter 10): a root of two parameters, maybe
// wrapped in float converts.
std::optional<Opcode> RecognisedCombiner(const Computation& computation);
// Type in which it runs: sums and products of narrow floats run in f32 and are rounded once.
ElementType AccumulatorOf(ElementType type, std::optional<Opcode> combiner);
llvm::Value* EmitCombiner(ValueBuilder& b, Opcode op, ElementType type, llvm::Value* x,
                          llvm::Value* y);

LaneAccess ReduceLanes(const Instruction& i, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitReduce(ElementEmitter& e, const ElementEmitter::Frame* frame,
                                         const Instruction& i, const ElementIndex& index);
LaneAccess DotLanes(const Instruction& i, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitDot(ElementEmitter& e, const ElementEmitter::Frame* frame,
                                      const Instruction& i, const ElementIndex& index);

// Type in which a dot accumulates.
ElementType DotAccumulator(const Instruction& dot);

}  // namespace assay
