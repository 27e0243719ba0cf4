// Element-wise ops on complex numbers. A complex value travels as a struct of its two parts and is
// never a vector. Document: operation semantics chapters 5, 6 and 8.
#pragma once

#include "optimized/codegen/elementwise.h"

namespace assay {

// nullptr when the op has no code for complex numbers.
ElementwiseFn FindComplexElementwise(Opcode opcode);

llvm::Value* EmitComplexAdd(ValueBuilder& builder, llvm::Value* x, llvm::Value* y);
// (a + b i)(c + d i) = (a c - b d) + (a d + b c) i, every product and every sum rounded.
llvm::Value* EmitComplexMultiply(ValueBuilder& builder, llvm::Value* x, llvm::Value* y);

}  // namespace assay
