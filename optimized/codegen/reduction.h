// Reductions inside a kernel, reduce and reduce-window: a loop nest per element, in order; with
// lanes, one for `width` neighbouring results. Where the order is free (operation semantics chapter
// 10) and the operand is contiguous along the innermost reduced dimension, partial results run in
// the lanes of a vector.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optimized/analysis/walks/reductions.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

// Type in which a combiner runs: sums and products of narrow floats run in f32 and are rounded
// once.
ElementType AccumulatorOf(ElementType type, std::optional<Opcode> combiner);
llvm::Value* EmitCombiner(ValueBuilder& builder, Opcode op, ElementType type, llvm::Value* x,
                          llvm::Value* y);

// The neutral element of a recognised combiner, in each of `width` lanes.
llvm::Value* EmitIdentity(ValueBuilder& builder, Opcode op, ElementType type, int width);
// The lanes of `vector` combined into one value; a value of one lane is that already.
llvm::Value* EmitFoldedLanes(ValueBuilder& builder, Opcode op, ElementType type,
                             llvm::Value* vector);

// One running value of `type` over `sizes`: vectors of `width` along the last of them while whole
// ones fit, then single elements.
struct LaneFold {
  Opcode op;  // recognised
  ElementType type;
  std::vector<int64_t> sizes;
  int width;
};
// The terms at `at`, `width` of them along the last dimension, in the fold's type.
using LaneTerm =
    std::function<absl::StatusOr<llvm::Value*>(const std::vector<llvm::Value*>& at, int width)>;
absl::StatusOr<llvm::Value*> FoldInLanes(ElementEmitter& emitter, const LaneFold& fold,
                                         const LaneTerm& term);

absl::StatusOr<ElementValues> EmitReduce(ElementEmitter& emitter,
                                         const ElementEmitter::Frame* frame,
                                         const Instruction& instruction, const ElementIndex& index);
absl::StatusOr<ElementValues> EmitReduceWindow(ElementEmitter& emitter,
                                               const ElementEmitter::Frame* frame,
                                               const Instruction& instruction,
                                               const ElementIndex& index);

// Emits lines [begin, end) of a cumulative window into `results`; operands come from the emitter's
// sources.
absl::Status EmitCumulative(ElementEmitter& emitter, const Instruction& instruction,
                            const CumulativeWindow& window, absl::Span<llvm::Value* const> results,
                            llvm::Value* begin, llvm::Value* end);

}  // namespace assay
