// Reductions inside a kernel, reduce and reduce-window: a loop nest per element, in order; with
// lanes, one for `width` neighbouring results. Where the order is free (operation semantics chapter
// 10) and the operand is contiguous along the innermost reduced dimension, partial results run in
// the lanes of a vector.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optimized/codegen/element_emitter.h"

namespace assay {

// The op of a recognised combiner (operation semantics chapter 10): a root of two parameters, maybe
// wrapped in float converts.
std::optional<Opcode> RecognisedCombiner(const Computation& computation);
// Type in which it runs: sums and products of narrow floats run in f32 and are rounded once.
ElementType AccumulatorOf(ElementType type, std::optional<Opcode> combiner);
llvm::Value* EmitCombiner(ValueBuilder& builder, Opcode op, ElementType type, llvm::Value* x,
                          llvm::Value* y);

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

LaneAccess ReduceLanes(const Instruction& instruction, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitReduce(ElementEmitter& emitter,
                                         const ElementEmitter::Frame* frame,
                                         const Instruction& instruction, const ElementIndex& index);
// Along a dimension in which the window is a single element.
LaneAccess ReduceWindowLanes(const Instruction& instruction, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitReduceWindow(ElementEmitter& emitter,
                                               const ElementEmitter::Frame* frame,
                                               const Instruction& instruction,
                                               const ElementIndex& index);

// A window that holds everything up to each element along one dimension, or everything from it on,
// and one element in the others: one running value does what the windows would add up again and
// again.
struct CumulativeWindow {
  int64_t dim;
  bool reverse;  // only where the order of the combiner is free
};
std::optional<CumulativeWindow> RecogniseCumulative(const Instruction& instruction);
// The number of lines that threads can share: along the dimensions before the window's, or, where
// those are one line, elements of those behind it.
int64_t CumulativeExtent(const Instruction& instruction, const CumulativeWindow& window);
// True if those are elements behind it, which lie side by side.
bool SplitsColumns(const Instruction& instruction, const CumulativeWindow& window);
// Emits lines [begin, end) of that extent into `results`; operands come from the emitter's sources.
absl::Status EmitCumulative(ElementEmitter& emitter, const Instruction& instruction,
                            const CumulativeWindow& window, absl::Span<llvm::Value* const> results,
                            llvm::Value* begin, llvm::Value* end);

}  // namespace assay
