// Rules by opcode; an op on what does not vary does not vary.
#include "reference/values/licenses/dependence.h"

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

bool CutsOperand(const Instruction& pad) {
  const absl::Span<const PaddingDim> dims = pad.attributes().Padding(Attr::kPadding);
  return std::any_of(dims.begin(), dims.end(),
                     [](const PaddingDim& dim) { return dim.low < 0 || dim.high < 0; });
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
  // A scalar that fills what an op leaves free is broadcast.
  bool IsFilling(int64_t i) const {
    const Opcode opcode = instruction_.opcode();
    if (opcode == Opcode::kPad) return i == 1;
    if (opcode == Opcode::kSelectAndScatter) return i == 2;
    const bool folds = opcode == Opcode::kReduce || opcode == Opcode::kReduceWindow;
    return folds && i >= instruction_.operand_count() / 2;
  }
  Dependence Of(int64_t i) const {
    if (IsFilling(i)) return Dependence::kNone;
    const Instruction* operand = instruction_.operand(i);
    const bool is_empty = operand->shape().IsArray() && operand->shape().ElementCount() == 0;
    const auto at = known_.find(operand);
    if (is_empty || at == known_.end()) return is_empty ? Dependence::kNone : Dependence::kVaries;
    return at->second;
  }
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
      case Opcode::kPad:
        return None(1) && (None(0) || CutsOperand(instruction_));
      case Opcode::kPower:
        return AllNone() || IsZero(*instruction_.operand(1)) || MayVanish(instruction_, AnyNone());
      default:
        return AllNone() || MayVanish(instruction_, AnyNone());
    }
  }
  bool AnyNone() const { return Count(Dependence::kNone) > 0; }

  bool IsPartly() const {
    const int64_t varying = Count(Dependence::kVaries), count = instruction_.operand_count();
    switch (instruction_.opcode()) {
      case Opcode::kConcatenate:
      case Opcode::kPad:
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
