// Integers in general registers: arithmetic, comparisons, choices and counts. In a loop over the
// lanes of vectors the operands are those of one lane.
#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

Condition ConditionOf(llvm::CmpInst::Predicate predicate) {
  switch (predicate) {
    case llvm::CmpInst::ICMP_EQ:
      return Condition::kEqual;
    case llvm::CmpInst::ICMP_NE:
      return Condition::kNotEqual;
    case llvm::CmpInst::ICMP_UGT:
      return Condition::kAbove;
    case llvm::CmpInst::ICMP_UGE:
      return Condition::kAboveEqual;
    case llvm::CmpInst::ICMP_ULT:
      return Condition::kBelow;
    case llvm::CmpInst::ICMP_ULE:
      return Condition::kBelowEqual;
    case llvm::CmpInst::ICMP_SGT:
      return Condition::kGreater;
    case llvm::CmpInst::ICMP_SGE:
      return Condition::kGreaterEqual;
    case llvm::CmpInst::ICMP_SLT:
      return Condition::kLess;
    default:
      return Condition::kLessEqual;
  }
}

int WorkBits(int bits) { return bits > 32 ? 64 : 32; }

// Its value if it may be an immediate operand of this width.
const llvm::ConstantInt* ShortConstant(const llvm::Value& value, int bits) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&value);
  if (constant == nullptr) return nullptr;
  const uint64_t wide = constant->getZExtValue();
  const auto number = static_cast<int64_t>(wide);
  if (bits == 64) return number == static_cast<int32_t>(number) ? constant : nullptr;
  return constant;
}

}  // namespace

Gpr FunctionTranslator::General(const Value& value) {
  if (lane_ < 0 || !value.getType()->isVectorTy()) return values_.General(value);
  const Kind kind = values_.KindOf(value);
  const Gpr to = values_.NewGeneral();
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    uint64_t bits = 0;
    if (!ConstantBits(*constant, lane_, bits)) Refuse("a constant");
    a_.MoveImmediate(to, bits);
    return to;
  }
  const int bytes = kind.is_truth() ? 1 : kind.bytes;
  a_.Int(bytes == 1   ? kMovzx8
         : bytes == 2 ? kMovzx16
                      : kMov,
         bytes == 8 ? 64 : 32, to, LaneAddress(value, lane_));
  if (kind.is_truth()) a_.GroupImmediate(kAndImm, 32, to, 1);
  return to;
}

Gpr FunctionTranslator::GeneralCopy(const Value& value) {
  if (lane_ < 0 || !value.getType()->isVectorTy()) return values_.GeneralCopy(value);
  return General(value);
}

// Sign-extended to 64 bits.
Gpr FunctionTranslator::SignedCopy(const Value& value) {
  const Gpr from = General(value);
  const Gpr to = values_.NewGeneral();
  const int bits = direct::KindOf(value.getType()).bits;
  if (bits == 64) {
    a_.Move(to, from);
  } else if (bits == 32 || bits == 16 || bits == 8) {
    a_.Int(bits == 32 ? kMovsxd : bits == 16 ? kMovsx16 : kMovsx8, 64, to, from);
  } else {
    a_.Move(to, from);
    a_.ShiftImmediate(kShlImm, 64, to, 64 - bits);
    a_.ShiftImmediate(kSarImm, 64, to, 64 - bits);
  }
  return to;
}

// Zero-extends what has so many bits; -32: 32 of which those above may be anything.
void FunctionTranslator::Canonical(Gpr reg, int bits) {
  if (bits == 64 || bits == 32) return;
  if (bits > 0 && IsForgotten("direct-code/high-bits-clear")) return;
  if (bits == -32) {
    a_.Int(kMov, 32, reg, reg);
  } else if (bits == 16 || bits == 8) {
    a_.Int(bits == 16 ? kMovzx16 : kMovzx8, 32, reg, reg);
  } else {
    a_.GroupImmediate(kAndImm, 32, reg, (1 << bits) - 1);
  }
}

void FunctionTranslator::SetGeneral(const Instruction& instruction, Gpr reg) {
  if (lane_ < 0) return values_.Define(instruction, reg);
  const Kind kind = values_.KindOf(instruction);
  if (kind.is_truth()) a_.Group(kNeg, 32, reg);
  a_.Int(kind.bytes == 1 ? kMovStore8 : kMovStore, kind.bytes == 1 ? 32 : 8 * kind.bytes, reg,
         LaneAddress(instruction, lane_));
}

void FunctionTranslator::Arithmetic(const Instruction& instruction) {
  struct Row {
    unsigned opcode;
    const IntOp& op;
    const GroupOp* immediate;
    bool may_overflow;
  };
  static constexpr Row kRows[] = {
      {Instruction::Add, kAdd, &kAddImm, true}, {Instruction::Sub, kSub, &kSubImm, true},
      {Instruction::Mul, kImul, nullptr, true}, {Instruction::And, kAnd, &kAndImm, false},
      {Instruction::Or, kOr, &kOrImm, false},   {Instruction::Xor, kXor, &kXorImm, false},
  };
  const Row* row = kRows;
  while (row->opcode != instruction.getOpcode()) ++row;
  const int bits = direct::KindOf(instruction.getType()).bits;
  const Value& y = *instruction.getOperand(1);
  const llvm::ConstantInt* short_y = ShortConstant(y, WorkBits(bits));
  if (short_y != nullptr && row->immediate != nullptr) {
    const Gpr to = GeneralCopy(*instruction.getOperand(0));
    a_.GroupImmediate(*row->immediate, WorkBits(bits), to,
                      static_cast<int32_t>(short_y->getZExtValue()));
    if (row->may_overflow) Canonical(to, bits);
    return SetGeneral(instruction, to);
  }
  const bool is_lane = lane_ >= 0 && y.getType()->isVectorTy();
  const Operand other = is_lane ? Operand(General(y)) : values_.GeneralOperand(y);
  const Gpr to = GeneralCopy(*instruction.getOperand(0));
  a_.Int(row->op, WorkBits(bits), to, other);
  if (row->may_overflow) Canonical(to, bits);
  SetGeneral(instruction, to);
}

void FunctionTranslator::Shift(const Instruction& instruction) {
  const int bits = direct::KindOf(instruction.getType()).bits;
  const bool is_signed = instruction.getOpcode() == Instruction::AShr;
  const Value& x = *instruction.getOperand(0);
  const auto* by = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  // A shift that is too far gives any bits; so wide a one gives those of a short one.
  if (by != nullptr) {
    const Gpr to = is_signed ? SignedCopy(x) : GeneralCopy(x);
    const GroupOp& op = instruction.getOpcode() == Instruction::Shl ? kShlImm
                        : is_signed                                 ? kSarImm
                                                                    : kShrImm;
    const auto places = static_cast<int64_t>(by->getLimitedValue(63) & (bits > 32 ? 63 : 31));
    a_.ShiftImmediate(op, is_signed ? 64 : WorkBits(bits), to,
                      static_cast<int>(bends_.Number("direct-code/shift", nullptr, places)));
    Canonical(to, is_signed && bits == 32 ? -32 : bits);
    return SetGeneral(instruction, to);
  }
  const Gpr count = General(*instruction.getOperand(1));
  const Gpr from = is_signed ? SignedCopy(x) : General(x);
  const Gpr to = values_.NewGeneral();
  const VexOp& op = instruction.getOpcode() == Instruction::Shl ? kShlx : is_signed ? kSarx : kShrx;
  a_.ShiftBy(op, is_signed ? 64 : WorkBits(bits), to, from, count);
  Canonical(to, is_signed && bits == 32 ? -32 : bits);
  SetGeneral(instruction, to);
}

void FunctionTranslator::Divide(const Instruction& instruction) {
  const int bits = direct::KindOf(instruction.getType()).bits;
  const unsigned opcode = instruction.getOpcode();
  const bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  const bool wants_rest = opcode == Instruction::URem || opcode == Instruction::SRem;
  const Gpr y =
      is_signed ? SignedCopy(*instruction.getOperand(1)) : General(*instruction.getOperand(1));
  const Gpr x =
      is_signed ? SignedCopy(*instruction.getOperand(0)) : General(*instruction.getOperand(0));
  a_.Move(Gpr::kRax, x);
  const int work = WorkBits(bits);
  if (is_signed) {
    a_.SignExtendRax(work);
  } else {
    a_.Int(kXor, 32, Gpr::kRdx, Gpr::kRdx);
  }
  a_.Group(is_signed ? kIdiv : kDiv, work, y);
  const Gpr to = values_.NewGeneral();
  a_.Move(to, wants_rest ? Gpr::kRdx : Gpr::kRax);
  Canonical(to, bits);
  SetGeneral(instruction, to);
}

Condition FunctionTranslator::Compare(const llvm::ICmpInst& compare) {
  const Value& x = *compare.getOperand(0);
  const Value& y = *compare.getOperand(1);
  const Kind kind = direct::KindOf(x.getType());
  if (!kind.in_general && lane_ < 0) {
    Refuse("a comparison");
    return Condition::kEqual;
  }
  const int bits = kind.bits;
  const Condition condition = ConditionOf(compare.getPredicate());
  if (compare.isSigned() && bits < 32 && !IsForgotten("direct-code/short-not-negative")) {
    const Gpr a = SignedCopy(x);
    const Gpr b = SignedCopy(y);
    a_.Int(kCmp, 32, a, b);
    return condition;
  }
  const int work = WorkBits(bits);
  const llvm::ConstantInt* short_y = ShortConstant(y, work);
  const Gpr a = General(x);
  if (short_y != nullptr) {
    a_.GroupImmediate(kCmpImm, work, a, static_cast<int32_t>(short_y->getZExtValue()));
  } else {
    const bool is_lane = lane_ >= 0 && y.getType()->isVectorTy();
    const Operand b = is_lane ? Operand(General(y)) : values_.GeneralOperand(y);
    a_.Int(kCmp, work, a, b);
  }
  return condition;
}

// The condition under which a truth holds, by the flags that are set here.
Condition FunctionTranslator::CompareOrTest(const Value& condition) {
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&condition);
  if (compare != nullptr && lane_ < 0 && IsDeferred(*compare)) return Compare(*compare);
  const Gpr truth = General(condition);
  a_.Int(kTest, 32, truth, truth);
  return Condition::kNotEqual;
}

void FunctionTranslator::SelectGeneral(const llvm::SelectInst& select) {
  const Kind kind = direct::KindOf(select.getType());
  const Kind lane_kind = kind.is_vector ? direct::KindOf(select.getType()->getScalarType()) : kind;
  if (!lane_kind.in_general && lane_ < 0) return Refuse("a selection");
  const Gpr yes = General(*select.getTrueValue());
  const Gpr to = GeneralCopy(*select.getFalseValue());
  const Condition holds = CompareOrTest(*select.getCondition());
  a_.MoveIf(holds, to, yes);
  SetGeneral(select, to);
}

void FunctionTranslator::IntegerMinMax(const llvm::MinMaxIntrinsic& choice) {
  const int bits = direct::KindOf(choice.getType()).bits;
  const bool is_short = choice.isSigned() && bits < 32;
  const Gpr y = General(*choice.getRHS());
  const Gpr to = GeneralCopy(*choice.getLHS());
  if (is_short) {
    const Gpr a = SignedCopy(*choice.getRHS());
    a_.ShiftImmediate(kShlImm, 64, to, 64 - bits);
    a_.ShiftImmediate(kSarImm, 64, to, 64 - bits);
    a_.Int(kCmp, 32, to, a);
  } else {
    a_.Int(kCmp, WorkBits(bits), to, y);
  }
  // The second where the first is not the one that is wanted.
  a_.MoveIf(Inverse(ConditionOf(choice.getPredicate())), to, y);
  if (is_short) Canonical(to, bits);
  SetGeneral(choice, to);
}

void FunctionTranslator::IntegerFunction(const llvm::IntrinsicInst& call) {
  const int bits = direct::KindOf(call.getType()).bits;
  const Value& x = *call.getArgOperand(0);
  const Gpr to = values_.NewGeneral();
  if (call.getIntrinsicID() == llvm::Intrinsic::abs) {
    const Gpr from = SignedCopy(x);
    a_.Move(to, from);
    a_.Group(kNeg, 64, to);
    a_.MoveIf(Condition::kSign, to, from);
    Canonical(to, bits == 32 ? -32 : bits);
  } else if (call.getIntrinsicID() == llvm::Intrinsic::ctpop) {
    a_.Int(kPopcnt, 64, to, General(x));
  } else {  // leading zeros: those of the wider register don't count
    a_.Int(kLzcnt, 64, to, General(x));
    if (bits < 64) a_.GroupImmediate(kSubImm, 32, to, 64 - bits);
  }
  SetGeneral(call, to);
}

bool FunctionTranslator::Integer(const Instruction& instruction) {
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    const Condition holds = Compare(*compare);
    const Gpr to = values_.NewGeneral();
    a_.Set(holds, kScratch);
    a_.Int(kMovzx8, 32, to, kScratch);
    SetGeneral(instruction, to);
    return true;
  }
  if (!instruction.getType()->isIntOrIntVectorTy()) return false;
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
      return Arithmetic(instruction), true;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      return Shift(instruction), true;
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return Divide(instruction), true;
    default:
      break;
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return false;
  if (const auto* choice = llvm::dyn_cast<llvm::MinMaxIntrinsic>(call)) {
    return IntegerMinMax(*choice), true;
  }
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::abs:
    case llvm::Intrinsic::ctpop:
    case llvm::Intrinsic::ctlz:
      return IntegerFunction(*call), true;
    default:
      return false;
  }
}

}  // namespace assay::direct
