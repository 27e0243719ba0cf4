// Real functions of f32 as LLVM IR, in f32 itself: vectors of full width, no conversions.
// Coefficients are minimax fits of our own; cpu/kernels/kernels_test.cc holds each function to its
// units of the last place on a sample of all exponents. Budgets: operation semantics 1.8.
#pragma once

#include "optimized/codegen/value_builder.h"

namespace assay {

// `x` is a float or a vector of floats; so is the result. Subnormal arguments and results are kept,
// infinities, zeros and NaNs are as in C99.
llvm::Value* EmitExpF32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitExpm1F32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitLogF32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitLog1pF32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitTanhF32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitLogisticF32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitErfF32(ValueBuilder& b, llvm::Value* x);
// Beyond 2^20 lanes go through the C library, in a block of their own.
llvm::Value* EmitSineF32(ValueBuilder& b, llvm::Value* x);
llvm::Value* EmitCosineF32(ValueBuilder& b, llvm::Value* x);

}  // namespace assay
