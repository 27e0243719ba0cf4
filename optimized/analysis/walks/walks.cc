// Follows operands, parameters and tuples by the rows of lane_access.cc.
#include "optimized/analysis/walks/walks.h"

#include "optimized/analysis/walks/lane_access.h"

namespace assay {
namespace {

// Deeper chains inside one fusion would exhaust the stack of the recursion.
constexpr int kMaxDepth = 2000;
constexpr int kLinear = -2;  // in the place of a dimension

// True if every dimension behind the lanes' has one element.
bool IsContiguous(const Shape& shape, int lane_dim) {
  if (!shape.IsArray()) return false;
  for (int64_t d = lane_dim + 1; d < shape.rank(); ++d) {
    if (shape.dimension(d) != 1) return false;
  }
  return true;
}

}  // namespace

bool IsKernelData(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kConstant && instruction.literal() != nullptr &&
         instruction.shape().IsArray() && instruction.literal()->element_count() != 1;
}

const CallFrame* Walks::NewFrame(CallFrame frame) {
  frames_.push_back(frame);
  return &frames_.back();
}

const CallFrame* Walks::CalleeFrame(Seen caller) {
  auto [it, inserted] = callee_frames_.try_emplace(caller, nullptr);
  if (inserted) it->second = NewFrame({caller.frame, caller.instruction->operands()});
  return it->second;
}

Seen Walks::TupleBehind(Seen tuple) const {
  if (tuple.instruction->opcode() != Opcode::kGetTupleElement || IsSource(tuple)) return tuple;
  const Seen outer = TupleBehind({tuple.frame, tuple.instruction->operand(0)});
  if (outer.instruction->opcode() != Opcode::kTuple || IsSource(outer)) return tuple;
  return TupleBehind({outer.frame, outer.instruction->operand(tuple.instruction->tuple_index())});
}

Seen Walks::TupleOrSource(Seen tuple) const {
  Seen behind = TupleBehind(tuple);
  while (behind.instruction->opcode() == Opcode::kParameter && !IsSource(behind) &&
         behind.frame != nullptr && !behind.frame->binds_values) {
    behind = {behind.frame->parent,
              behind.frame->arguments[behind.instruction->parameter_number()]};
  }
  return behind;
}

bool Walks::FindLinear(Seen seen) {
  const auto& [frame, instruction] = seen;
  const int64_t count = instruction->shape().ElementCount();
  if (IsSource(seen) || IsKernelData(*instruction)) return instruction->shape().IsArray();
  switch (instruction->opcode()) {
    case Opcode::kConstant:
      return instruction->shape().IsArray() && count == 1;
    case Opcode::kParameter:
      return frame != nullptr &&
             (frame->binds_values ||
              CanWalkLinearly({frame->parent, frame->arguments[instruction->parameter_number()]}));
    case Opcode::kFusion:
    case Opcode::kCall:
      return CanWalkLinearly({CalleeFrame(seen), instruction->callee()->root()});
    case Opcode::kGetTupleElement: {
      const Seen tuple = TupleOrSource({frame, instruction->operand(0)});
      if (IsSource(tuple)) return instruction->shape().IsArray();
      return tuple.instruction->opcode() == Opcode::kTuple &&
             CanWalkLinearly({tuple.frame, tuple.instruction->operand(instruction->tuple_index())});
    }
    default:
      break;
  }
  if (!IsLinear(*instruction)) return false;
  bool result = true;
  for (const Instruction* operand : instruction->operands()) {
    // An operand of one element is read at that element, whatever the linear index.
    if (operand->shape().ElementCount() != count && operand->shape().ElementCount() != 1) {
      result = false;
    }
    result = result && CanWalkLinearly({frame, operand});
  }
  return result;
}

bool Walks::CanWalkLinearly(Seen seen) {
  auto [it, inserted] = known_.try_emplace({seen, kLinear}, false);
  if (!inserted) return it->second;
  const bool result = ++depth_ <= kMaxDepth && FindLinear(seen);
  --depth_;
  known_[{seen, kLinear}] = result;
  return result;
}

bool Walks::FindLanes(Seen seen, int lane_dim) {
  const auto& [frame, instruction] = seen;
  if (IsSource(seen) || IsKernelData(*instruction)) {
    return IsContiguous(instruction->shape(), lane_dim);
  }
  switch (instruction->opcode()) {
    case Opcode::kConstant:
      return instruction->shape().IsArray() && instruction->shape().ElementCount() == 1;
    case Opcode::kParameter:
      return frame != nullptr && !frame->binds_values &&
             CanWalkLanes({frame->parent, frame->arguments[instruction->parameter_number()]},
                          lane_dim);
    case Opcode::kFusion:
    case Opcode::kCall:
      return CanWalkLanes({CalleeFrame(seen), instruction->callee()->root()}, lane_dim);
    case Opcode::kGetTupleElement: {
      const Seen tuple = TupleOrSource({frame, instruction->operand(0)});
      if (IsSource(tuple)) return IsContiguous(instruction->shape(), lane_dim);
      if (tuple.instruction->opcode() == Opcode::kTuple) {
        return CanWalkLanes({tuple.frame, tuple.instruction->operand(instruction->tuple_index())},
                            lane_dim);
      }
      return HasLanes(tuple.instruction->opcode()) && CanWalkLanes(tuple, lane_dim);
    }
    default:
      break;
  }
  if (!HasLanes(instruction->opcode())) return false;
  for (int64_t i = 0; i < instruction->operand_count(); ++i) {
    const LaneAccess access = LanesOf(*instruction, i, lane_dim);
    if (access.kind == LaneAccess::kImpossible) return false;
    if (access.kind == LaneAccess::kLanes &&
        !CanWalkLanes({frame, instruction->operand(i)}, access.lane_dim)) {
      return false;
    }
  }
  return true;
}

bool Walks::CanWalkLanes(Seen seen, int lane_dim) {
  auto [it, inserted] = known_.try_emplace({seen, lane_dim}, false);
  if (!inserted) return it->second;
  // A complex value is never a vector.
  const Shape& shape = seen.instruction->shape();
  if (shape.IsArray() && IsComplex(shape.element_type())) return false;
  const bool result = ++depth_ <= kMaxDepth && FindLanes(seen, lane_dim);
  --depth_;
  known_[{seen, lane_dim}] = result;
  return result;
}

}  // namespace assay
