// The ops that may be computed element by element inside of a fusion, and what they cost there.
#pragma once

#include "optimized/passes/util/module_util.h"
#include "spec/ir/module.h"

namespace assay {

// Ops whose every element is an element of an operand, or a formula of the index.
bool MovesData(Opcode opcode);

// A few machine instructions: cheaper to compute again than to load.
bool IsCheapArithmetic(Opcode opcode);

bool IsElementwiseOp(const Instruction& inst);

// Memory is row-major whatever order a layout writes down, and no op that is fused can tell. Tiles
// and the like it cannot ignore.
bool HasPlainMemory(const Shape& shape);

// One number everywhere, or a count: cheaper to make than to load. It is made anew wherever it is
// read, and counts for nothing.
bool IsFormula(const Instruction& inst);

// May be computed element by element inside a fusion.
bool IsFusible(const Instruction& inst, const Purity& purity);

}  // namespace assay
