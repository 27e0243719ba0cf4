// Real functions as LLVM IR. f32 (and f16, bf16 through it) are evaluated in f32 by polynomials,
// vectors included (float_functions.h), powers in double; f64 has formulas of its own
// (formulas.h). Budgets: operation semantics 1.8.
#pragma once

#include "optimized/codegen/value_builder.h"

namespace assay {

// Names of functions of the generated module that hold one formula, for all that use it.
inline constexpr char kSharedFunctionPrefix[] = "math.";

// `x` (and `y`) in arithmetic type float or double; the result likewise.
llvm::Value* EmitExp(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitLog(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitTanh(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitSine(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitCosine(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitErf(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitLog1p(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitExpm1(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitLogistic(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitRsqrt(ValueBuilder& builder, llvm::Value* x);
// f32 by the C library.
llvm::Value* EmitTan(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitCbrt(ValueBuilder& builder, llvm::Value* x);
llvm::Value* EmitAtan2(ValueBuilder& builder, llvm::Value* y, llvm::Value* x);
llvm::Value* EmitPower(ValueBuilder& builder, llvm::Value* x, llvm::Value* y);
// Any function of the C library that takes and returns doubles, lane by lane; float arguments are
// widened and the result rounded.
llvm::Value* EmitLibm(ValueBuilder& builder, const char* function,
                      llvm::ArrayRef<llvm::Value*> arguments);

// Calls `function` with scalars of the arguments' types, lane by lane.
llvm::Value* CallPerLane(ValueBuilder& builder, const char* function, llvm::Type* result,
                         llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace assay
