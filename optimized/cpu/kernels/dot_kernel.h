// A large dot or convolution: a call of the runtime's contraction, or, for dots of middling size, a
// blocked loop nest with tiles of the result in vector registers and the contraction innermost.
// Every element sums its products in one fixed order whatever tile it falls into, so results do not
// depend on how a kernel is split. Document: operation semantics chapter 11 (accumulation type; the
// order is free).
#pragma once

#include "absl/status/statusor.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

struct DotKernelRange {
  llvm::Value* begin = nullptr;  // of result dimension SplitDim
  llvm::Value* end = nullptr;
};

// True if `dot` (or convolution) is large enough, and the runtime or the nest has code for it.
bool HasDotKernel(const Instruction& dot);
// The result dimension that a range cuts; -1: none that is worth it, or the runtime does it.
int64_t DotSplitDim(const Instruction& dot);

// `range` limits the dimension DotSplitDim; pointers are to row-major arrays.
absl::Status EmitDotKernel(ElementEmitter& emitter, const Instruction& dot, llvm::Value* lhs,
                           llvm::Value* rhs, llvm::Value* result, DotKernelRange range);

}  // namespace assay
