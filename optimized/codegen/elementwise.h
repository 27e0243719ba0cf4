// The element-wise ops: what one op does to the values of its operands at one index. Document:
// operation semantics chapters 5 to 8.
#pragma once

#include "optimized/codegen/value_builder.h"
#include "spec/ir/instruction.h"

namespace assay {

// Operands and result in register types of one width. The instruction gives types and attributes,
// nothing else.
using ElementwiseFn = llvm::Value* (*)(ValueBuilder & builder, const Instruction& instruction,
                                       llvm::ArrayRef<llvm::Value*> operands);

// nullptr when the op is not element-wise or has no lowering.
ElementwiseFn FindElementwise(Opcode opcode);

// minimum(maximum(x, low), high) and the like need the binary forms by themselves.
llvm::Value* EmitMaximum(ValueBuilder& builder, ElementType type, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitMinimum(ValueBuilder& builder, ElementType type, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitAdd(ValueBuilder& builder, ElementType type, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitMultiply(ValueBuilder& builder, ElementType type, llvm::Value* x, llvm::Value* y);
// Total order of floats as an order of signed integers: negative codes have their magnitude bits
// flipped.
llvm::Value* EmitTotalOrderKey(ValueBuilder& builder, ElementType type, llvm::Value* operand);

}  // namespace assay
