// Rules by opcode; an op on what does not vary does not vary.
#include "reference/licenses/dependence.h"

#include <algorithm>

#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

// True if an op on integers may give a constant although not all of its operands are constants, as
// on two equal operands, or in products with zero.
bool MayVanish(const Instruction& instruction, bool is_one_constant) {
  const Opcode opcode = instruction.opcode();
  if (!Info(opcode).Is(kElementwise) || instruction.operand_count() != 2) return false;
  if (IsFloat(instruction.operand(0)->shape().element_type()) && opcode != Opcode::kCompare)
    return false;
  if (instruction.operand(0) == instruction.operand(1)) return true;
  const bool is_one_to_one =
      opcode == Opcode::kAdd || opcode == Opcode::kSubtract || opcode == Opcode::kXor;
  return !is_one_to_one && is_one_constant;
}

bool IsZero(const Instruction& value) {
  const Instruction* at = &value;
  while (at->opcode() == Opcode::kBroadcast || at->opcode() == Opcode::kReshape ||
         at->opcode() == Opcode::kConvert) {
    at = at->operand(0);
  }
  const Literal* literal = at->opcode() == Opcode::kConstant ? at->literal() : nullptr;
  if (literal == nullptr || !literal->shape().IsArray()) return false;
  for (int64_t k = 0; k < literal->component_count(); ++k)
    if (literal->GetComponent(k) != 0) return false;
  return true;
}

bool IsEmpty(const Instruction& value) {
  return value.shape().IsArray() && value.shape().ElementCount() == 0;
}

std::vector<SliceRange> WholeOf(const Shape& shape) {
  std::vector<SliceRange> ranges;
  for (const int64_t size : shape.dimensions()) ranges.push_back({0, size, 1});
  return ranges;
}

// True if the ranges of a pad's result hold no element of its operand: in some dimension they step
// over all of them.
bool HoldOnlyPadding(absl::Span<const SliceRange> ranges, const Instruction& pad) {
  const absl::Span<const PaddingDim> padding = pad.attributes().Padding(Attr::kPadding);
  for (size_t d = 0; d < ranges.size(); ++d) {
    const int64_t size = pad.operand(0)->shape().dimension(static_cast<int64_t>(d));
    const int64_t every = padding[d].interior + 1;
    bool holds_any = false;
    for (int64_t at = ranges[d].start; at < ranges[d].limit && !holds_any; at += ranges[d].stride) {
      const int64_t inside = at - padding[d].low;
      holds_any = inside >= 0 && inside % every == 0 && inside / every < size;
    }
    if (!holds_any) return true;
  }
  return false;
}

// The operands of a concatenation that a slice of it takes elements of.
std::vector<const Instruction*> PartsTaken(const Instruction& slice) {
  const Instruction& whole = *slice.operand(0);
  const auto dimension = static_cast<size_t>(whole.attributes().Integers(Attr::kDimension)[0]);
  const SliceRange range = slice.attributes().SliceRanges(Attr::kSlice)[dimension];
  std::vector<const Instruction*> parts;
  int64_t begin = 0;
  for (const Instruction* part : whole.operands()) {
    const int64_t end = begin + part->shape().dimension(static_cast<int64_t>(dimension));
    int64_t first = range.start;  // that the slice takes at or behind `begin`
    if (begin > first) first += (begin - first + range.stride - 1) / range.stride * range.stride;
    if (first < std::min(end, range.limit)) parts.push_back(part);
    begin = end;
  }
  return parts;
}

class Rule {
 public:
  Rule(const Instruction& instruction, bool is_entry, const Dependences& known)
      : instruction_(instruction), is_entry_(is_entry), known_(known) {}

  Dependence Apply() const {
    if (IsNone()) return Dependence::kNone;
    return IsPartly() ? Dependence::kPartly : Dependence::kVaries;
  }

 private:
  Dependence OfValue(const Instruction& value) const {
    if (IsEmpty(value)) return Dependence::kNone;
    const auto at = known_.find(&value);
    return at == known_.end() ? Dependence::kVaries : at->second;
  }
  Dependence Of(int64_t i) const { return OfValue(*instruction_.operand(i)); }
  bool None(int64_t i) const { return Of(i) == Dependence::kNone; }
  bool Varies(int64_t i) const { return Of(i) == Dependence::kVaries; }
  bool AllNone() const { return Count(Dependence::kNone) == instruction_.operand_count(); }
  int64_t Count(Dependence dependence) const {
    int64_t count = 0;
    for (int64_t i = 0; i < instruction_.operand_count(); ++i) count += Of(i) == dependence;
    return count;
  }

  bool IsNone() const {
    switch (instruction_.opcode()) {
      case Opcode::kParameter:
        return !is_entry_;
      case Opcode::kInfeed:
      case Opcode::kRecv:
      case Opcode::kRng:
      case Opcode::kRngGetAndUpdateState:
        return false;
      case Opcode::kBroadcast:
      case Opcode::kGetDimensionSize:
      case Opcode::kGetTupleElement:
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kWhile:
      case Opcode::kConditional:
        return true;
      // It does not matter which of equal elements, or of equal arms, are taken.
      case Opcode::kSlice:
        return SliceIsNone();
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
        return !Varies(0);
      case Opcode::kSelect:
        // A predicate that folds away takes one arm.
        return (None(0) && (None(1) || None(2))) || (None(1) && None(2));
      case Opcode::kClamp:
        return None(0) && None(2);
      case Opcode::kDynamicUpdateSlice:
        return None(1) && (None(0) || Compatible(instruction_.operand(1)->shape(),
                                                 instruction_.operand(0)->shape()));
      // An array of padding alone is a scalar that is broadcast, and so is a sum of nothing.
      case Opcode::kPad:
        return AllNone() || HoldOnlyPadding(WholeOf(instruction_.shape()), instruction_);
      case Opcode::kReduce:
      case Opcode::kReduceWindow:
        return AllNone() || IsEmpty(*instruction_.operand(0));
      case Opcode::kPower:
        return AllNone() || IsZero(*instruction_.operand(1)) || MayVanish(instruction_, AnyNone());
      default:
        return AllNone() || MayVanish(instruction_, AnyNone());
    }
  }
  // A slice that is seen to take only some elements counts by these; behind ops that move elements
  // it may take any of them.
  bool SliceIsNone() const {
    const Instruction& from = *instruction_.operand(0);
    if (None(0)) return true;
    if (from.opcode() == Opcode::kPad)
      return HoldOnlyPadding(instruction_.attributes().SliceRanges(Attr::kSlice), from);
    if (from.opcode() != Opcode::kConcatenate) return !Varies(0);
    const std::vector<const Instruction*> parts = PartsTaken(instruction_);
    return std::all_of(parts.begin(), parts.end(), [this](const Instruction* part) {
      return OfValue(*part) == Dependence::kNone;
    });
  }
  bool AnyNone() const { return Count(Dependence::kNone) > 0; }

  bool IsPartly() const {
    const int64_t varying = Count(Dependence::kVaries), count = instruction_.operand_count();
    switch (instruction_.opcode()) {
      case Opcode::kPad:
        return true;  // its padding
      case Opcode::kConcatenate:
        return varying < count;
      case Opcode::kDynamicUpdateSlice:
        return !(Varies(0) && Varies(1));
      case Opcode::kScatter:
        return !(Varies(0) && Varies(count - 1));
      case Opcode::kSelect:
        return !Varies(0) && !(Varies(1) && Varies(2));
      default: {
        const OpInfo& info = Info(instruction_.opcode());
        const bool keeps_places = info.Is(kDataMovement) || info.Is(kElementwise);
        return keeps_places && count > 0 && varying == 0;
      }
    }
  }

  const Instruction& instruction_;
  bool is_entry_;
  const Dependences& known_;
};

}  // namespace

Dependence DependenceOf(const Instruction& instruction, bool is_entry, const Dependences& known) {
  return Rule(instruction, is_entry, known).Apply();
}

}  // namespace assay::reference
