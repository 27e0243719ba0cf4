// The way in which a traversal of an op's result reaches its operands: with vector lanes along one
// dimension, or by one linear index. Each op that can be computed element by element has a row.
// Read by plans and by what emits code; knows shapes and attributes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/ir/module.h"

namespace assay {

struct LaneAccess {
  enum Kind : uint8_t { kLanes, kUniform, kImpossible } kind = kImpossible;
  int lane_dim = -1;  // of the operand, for kLanes
};

// The way in which lanes along `lane_dim` of the result reach that operand.
LaneAccess LanesOf(const Instruction& instruction, int64_t operand, int lane_dim);
// True if some form of the op can be computed in lanes.
bool HasLanes(Opcode opcode);
// True if result and operands can be walked by one linear index (operands of one element are
// uniform).
bool IsLinear(const Instruction& instruction);

// The dimensions with more than one element.
std::vector<int64_t> RealDims(const Shape& shape);

}  // namespace assay
