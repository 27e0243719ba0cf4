// A large dot or convolution: a call of the runtime's contraction, or, for dots of middling size, a
// blocked loop nest with tiles of the result in vector registers and the contraction innermost.
// Every element sums its products in one fixed order whatever tile it falls into, so results do not
// depend on how a kernel is split. Document: operation semantics chapter 11 (accumulation type; the
// order is free).
#pragma once

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "optimized/codegen/element_emitter.h"

namespace assay {

struct DotArrays {
  llvm::Value *lhs, *rhs, *result;
};

struct DotKernelRange {
  llvm::Value* begin = nullptr;  // of the result dimension that is cut
  llvm::Value* end = nullptr;
};

// Code that makes something of the sums as soon as they are complete.
struct DotEpilogue {
  llvm::Function* function = nullptr;  // an EpilogueFn of the runtime; nullptr: sums are the result
  bool sums_apart = false;             // the sums have no room where the result lies
  int64_t unit = 1;                    // of the parts that it takes
};

// The code for a dot or a convolution that is large enough, or for a fusion of a dot with ops that
// move elements, where the runtime or the nest has it:
// with the result dimension that a range cuts.
std::optional<ContractionCode> ContractionCodeOf(const Instruction& instruction,
                                                 const Target& target);

// Which operands of such an instruction are the two sides: those of a fusion are found in it.
std::pair<int64_t, int64_t> OperandsOfContraction(const Instruction& kernel);

// `range` limits the dimension that threads may cut; pointers are to row-major arrays.
absl::Status EmitDotKernel(ElementEmitter& emitter, const Instruction& dot, DotArrays arrays,
                           DotKernelRange range, DotEpilogue epilogue = {});

}  // namespace assay
