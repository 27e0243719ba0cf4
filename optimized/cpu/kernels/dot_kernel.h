// A large dot or convolution: a call of the runtime's contraction, or, for dots of middling size, a
// blocked loop nest with tiles of the result in vector registers and the contraction innermost.
// Every element sums its products in one fixed order whatever tile it falls into, so results do not
// depend on how a kernel is split. Document: operation semantics chapter 11 (accumulation type; the
// order is free).
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

struct DotKernelRange {
  llvm::Value* begin = nullptr;  // of the result dimension that is cut
  llvm::Value* end = nullptr;
};

// The code for a dot or a convolution that is large enough, where the runtime or the nest has it:
// with the result dimension that a range cuts.
std::optional<ContractionCode> ContractionCodeOf(const Instruction& instruction,
                                                 const Target& target);

// `range` limits the dimension that threads may cut; pointers are to row-major arrays.
absl::Status EmitDotKernel(ElementEmitter& emitter, const Instruction& dot, llvm::Value* lhs,
                           llvm::Value* rhs, llvm::Value* result, DotKernelRange range);

}  // namespace assay
