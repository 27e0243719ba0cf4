// The operators element-value and element-index of planted defects: they bend single elements that
// a kernel computes. Without a defect they give back what they are given.
#pragma once

#include "optimized/codegen/element_emitter.h"

namespace assay {

// `value` of an element-wise op, or another one where the defect's test holds for an operand.
llvm::Value* BentElement(ValueBuilder& builder, const Instruction& instruction,
                         llvm::ArrayRef<llvm::Value*> operands, llvm::Value* value);
// `index` of the element of `instruction` that is to be emitted, or that of a neighbour.
ElementIndex BentIndex(ElementEmitter& emitter, const Instruction& instruction,
                       const ElementIndex& index);

}  // namespace assay
