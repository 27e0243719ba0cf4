// Gather, and the index vectors that it shares with scatter. Document: operation semantics chapter
// 9, Gather and Scatter.
#pragma once

#include "optimized/analysis/walks/index_numbers.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

absl::StatusOr<ElementValues> EmitGather(ElementEmitter& emitter,
                                         const ElementEmitter::Frame* frame,
                                         const Instruction& instruction, const ElementIndex& index);

// The component of an index vector, understood as a mathematical value of either sign.
struct IndexComponent {
  llvm::Value* value = nullptr;  // i64
  bool is_signed = true;
};

// The place where the window of element `at` (of result or updates, of rank `rank`) starts: for
// each dimension of the operand a component of the index vector, a batch position, or nothing.
struct WindowStart {
  std::vector<IndexComponent> components;  // by dimension of the operand; null: none
  std::vector<llvm::Value*> batch;         // by dimension of the operand; null: none
};
absl::StatusOr<WindowStart> EmitWindowStart(ElementEmitter& emitter,
                                            const ElementEmitter::Frame* frame,
                                            const IndexNumbers& numbers, const Instruction& indices,
                                            int64_t operand_rank,
                                            const std::vector<llvm::Value*>& at);

}  // namespace assay
