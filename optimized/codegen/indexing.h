// Gather, and the index vectors that it shares with scatter. Document: operation semantics chapter
// 9, Gather and Scatter.
#pragma once

#include "optimized/codegen/element_emitter.h"

namespace assay {

LaneAccess GatherLanes(const Instruction& instruction, int64_t operand, int lane_dim);
absl::StatusOr<ElementValues> EmitGather(ElementEmitter& emitter,
                                         const ElementEmitter::Frame* frame,
                                         const Instruction& instruction, const ElementIndex& index);

// Attributes of gather or scatter under one name.
struct IndexNumbers {
  absl::Span<const int64_t> window_dims;    // of the result, of the updates
  absl::Span<const int64_t> absent_dims;    // of the operand, which windows do not have
  absl::Span<const int64_t> batching_dims;  // of the operand
  absl::Span<const int64_t> indices_batching_dims;
  absl::Span<const int64_t> index_map;  // component of the index vector -> dimension of the operand
  int64_t index_vector_dim = 0;

  static IndexNumbers OfGather(const Instruction& gather);
  static IndexNumbers OfScatter(const Instruction& scatter);
  // Dimension of the result or updates -> dimension of the operand, for window dimensions; -1.
  std::vector<int64_t> WindowDimOf(int64_t rank, int64_t operand_rank) const;
};

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
