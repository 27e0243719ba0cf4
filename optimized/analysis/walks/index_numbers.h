// The dimension numbers of gather and scatter. Document: operation semantics chapter 9, Gather and
// Scatter.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "spec/ir/module.h"

namespace assay {

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

}  // namespace assay
