// Implicit broadcasting as builders offer it; HLO itself has only explicit broadcasts.
// Document: operation semantics chapters 3.1, 3.2 and 9 (BroadcastInDim).
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/ir/computation.h"

namespace assay {

// Dimensions of an element-wise result of operands of these dimensions. `broadcast_dimensions` says
// to which dimension of the operand of higher rank each one of the other's belongs; it is empty for
// operands of equal rank (where the identity is allowed too) and for a scalar. Then sizes of one
// stretch to the other operand's size, zero included. Errors name dimension and sizes.
absl::StatusOr<DimVector> BroadcastDimensions(absl::Span<const int64_t> lhs,
                                              absl::Span<const int64_t> rhs,
                                              absl::Span<const int64_t> broadcast_dimensions);

// `operand` repeated to `dimensions`: its dimension i, of size one or of the result's size, becomes
// dimension mapping[i]. Adds a reshape where a size of one is stretched, and nothing at all where
// the shape is already right. `mapping` is strictly increasing.
absl::StatusOr<Instruction*> BroadcastInDim(Computation& computation, Instruction* operand,
                                            absl::Span<const int64_t> dimensions,
                                            absl::Span<const int64_t> mapping);

// Both operands, broadcast to their common dimensions.
absl::StatusOr<std::pair<Instruction*, Instruction*>> BroadcastOperands(
    Computation& computation, Instruction* lhs, Instruction* rhs,
    absl::Span<const int64_t> broadcast_dimensions = {});

// An element-wise binary op with implicit broadcasting. `attributes` are those of compare.
absl::StatusOr<Instruction*> AddBinary(Computation& computation, Opcode opcode, Instruction* lhs,
                                       Instruction* rhs,
                                       absl::Span<const int64_t> broadcast_dimensions = {},
                                       Attributes attributes = {});

}  // namespace assay
