// Conversions of one number. In a loop over the lanes of vectors it is that of a lane.
#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

uint64_t BitsOf(double value) { return llvm::bit_cast<uint64_t>(value); }

// The bits of a lane's type.
Kind LaneKind(const llvm::Value& value) { return KindOf(value.getType()->getScalarType()); }

}  // namespace

Vec FunctionTranslator::Float(const Value& value) {
  if (lane_ < 0 || !value.getType()->isVectorTy()) return values_.Vector(value);
  const Kind kind = LaneKind(value);
  const Vec to = values_.NewVector();
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    uint64_t bits = 0;
    if (!ConstantBits(*constant, lane_, bits)) Refuse("a constant");
    LoadPiece(to, values_.Splat(bits, kind.bytes), kind.bytes);
  } else {
    LoadPiece(to, LaneAddress(value, lane_), kind.bytes);
  }
  return to;
}

void FunctionTranslator::SetFloat(const Instruction& instruction, Vec reg) {
  if (lane_ < 0) return values_.Define(instruction, 0, reg);
  StorePiece(LaneAddress(instruction, lane_), reg, LaneKind(instruction).bytes);
}

void FunctionTranslator::ResizeInteger(const Instruction& instruction) {
  const int bits = LaneKind(instruction).bits;
  const Value& from = *instruction.getOperand(0);
  const Gpr to =
      instruction.getOpcode() == Instruction::SExt ? SignedCopy(from) : GeneralCopy(from);
  if (instruction.getOpcode() != Instruction::ZExt) Canonical(to, bits == 32 ? -32 : bits);
  SetGeneral(instruction, to);
}

void FunctionTranslator::IntegerToFloat(const Instruction& instruction, bool is_signed) {
  const Value& value = *instruction.getOperand(0);
  const bool is_double = LaneKind(instruction).bits == 64;
  const VexOp& convert = is_double ? kQToSd : kQToSs;
  const Vec to = values_.NewVector();
  const Gpr from = is_signed ? SignedCopy(value) : General(value);
  // Otherwise the result would wait for what the register held before.
  a_.Vex(kXorPs, 128, to, to, to);
  if (is_signed || LaneKind(value).bits < 64 || IsForgotten("direct-code/below-half")) {
    a_.Vex(convert, 128, to, to, from);
    return SetFloat(instruction, to);
  }
  const Label large = a_.NewLabel(), done = a_.NewLabel();
  a_.Int(kTest, 64, from, from);
  a_.JumpIf(Condition::kSign, large);
  a_.Vex(convert, 128, to, to, from);
  a_.Jump(done);
  a_.Bind(large);
  // Half of it, the bit that is lost kept in the last place, rounds as the whole does.
  a_.Move(kScratch, from);
  a_.Move(kScratch2, from);
  a_.ShiftImmediate(kShrImm, 64, kScratch, 1);
  a_.GroupImmediate(kAndImm, 64, kScratch2, 1);
  a_.Int(kOr, 64, kScratch, kScratch2);
  a_.Vex(convert, 128, to, to, kScratch);
  a_.Vex(is_double ? kAddSd : kAddSs, 128, to, to, to);
  a_.Bind(done);
  SetFloat(instruction, to);
}

// A double to an integer of at most 32 bits: clamped before, zero where it is no number.
void FunctionTranslator::ClampToInteger(Gpr to, Vec from, int bits, bool is_signed) {
  const double least = is_signed ? -static_cast<double>(uint64_t{1} << (bits - 1)) : 0;
  const double most = static_cast<double>((uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1);
  const Vec clamped = ScratchVec(0);
  a_.Vex(kMaxSd, 128, clamped, from, values_.Splat(BitsOf(least), 8));
  a_.Vex(kMinSd, 128, clamped, clamped, values_.Splat(BitsOf(most), 8));
  a_.VexGeneral(kSdToQ, 128, to, IsForgotten("direct-code/in-range") ? from : clamped);
  a_.MoveImmediate(kScratch, 0);
  a_.Vex(kUcomiSd, 128, from, from);
  a_.MoveIf(Condition::kParity, to, kScratch);
  Canonical(to, bits == 32 ? -32 : bits);
}

void FunctionTranslator::WideFloatToInteger(Gpr to, Vec from, bool is_signed) {
  const Address middle = values_.Splat(BitsOf(0x1p63), 8);
  if (is_signed) {
    a_.VexGeneral(kSdToQ, 128, to, from);
    a_.MoveImmediate(kScratch, ~uint64_t{0} >> 1);
    a_.Vex(kUcomiSd, 128, from, middle);
    a_.MoveIf(Condition::kAboveEqual, to, kScratch);
    a_.MoveImmediate(kScratch, 0);
    a_.Vex(kUcomiSd, 128, from, from);
    a_.MoveIf(Condition::kParity, to, kScratch);
    return;
  }
  a_.Vex(kSubSd, 128, ScratchVec(0), from, middle);
  a_.VexGeneral(kSdToQ, 128, kScratch, ScratchVec(0));
  a_.MoveImmediate(kScratch2, uint64_t{1} << 63);
  a_.Int(kXor, 64, kScratch, kScratch2);
  a_.VexGeneral(kSdToQ, 128, to, from);
  a_.Vex(kUcomiSd, 128, from, middle);
  a_.MoveIf(Condition::kAboveEqual, to, kScratch);
  a_.MoveImmediate(kScratch, ~uint64_t{0});
  a_.Vex(kUcomiSd, 128, from, values_.Splat(BitsOf(0x1p64), 8));
  a_.MoveIf(Condition::kAboveEqual, to, kScratch);
  a_.MoveImmediate(kScratch, 0);
  // Below zero, or no number.
  a_.Vex(kUcomiSd, 128, from, values_.Splat(0, 8));
  a_.MoveIf(Condition::kBelow, to, kScratch);
}

void FunctionTranslator::FloatToInteger(const llvm::IntrinsicInst& call, bool is_signed) {
  const Value& value = *call.getArgOperand(0);
  if (!LaneKind(value).is_float) return Refuse("a conversion");
  const int bits = LaneKind(call).bits;
  Vec from = Float(value);
  if (LaneKind(value).bits == 32) {
    a_.Vex(kSsToSd, 128, ScratchVec(1), from, from);
    from = ScratchVec(1);
  }
  const Gpr to = values_.NewGeneral();
  if (bits == 64) {
    WideFloatToInteger(to, from, is_signed);
  } else {
    ClampToInteger(to, from, bits, is_signed);
  }
  SetGeneral(call, to);
}

void FunctionTranslator::ScalarBitCast(const Instruction& instruction) {
  const Value& value = *instruction.getOperand(0);
  if (lane_ >= 0 || value.getType()->isVectorTy() || instruction.getType()->isVectorTy()) {
    return Refuse("a cast of bits");
  }
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  if (from.in_general && to.in_general)
    return values_.Define(instruction, values_.GeneralCopy(value));
  if (from.is_float && to.is_float)
    return values_.Define(instruction, 0, values_.VectorCopy(value));
  if (from.in_general) {
    const Vec reg = values_.NewVector();
    a_.Vex(from.bits == 64 ? kMovQ : kMovD, 128, reg, values_.General(value));
    return values_.Define(instruction, 0, reg);
  }
  const Gpr reg = values_.NewGeneral();
  a_.Vex(from.bits == 64 ? kMovQStore : kMovDStore, 128, values_.Vector(value), reg);
  values_.Define(instruction, reg);
}

bool FunctionTranslator::Convert(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    if (id != llvm::Intrinsic::fptosi_sat && id != llvm::Intrinsic::fptoui_sat) return false;
    return FloatToInteger(*call, id == llvm::Intrinsic::fptosi_sat), true;
  }
  if (!instruction.isCast()) return false;
  const Value& value = *instruction.getOperand(0);
  const Kind from = LaneKind(value), to = LaneKind(instruction);
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
      return ResizeInteger(instruction), true;
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      if (from.bits != to.bits) return false;
      return SetGeneral(instruction, GeneralCopy(value)), true;
    case Instruction::SIToFP:
    case Instruction::UIToFP:
      if (!to.is_float) return false;
      return IntegerToFloat(instruction, instruction.getOpcode() == Instruction::SIToFP), true;
    case Instruction::BitCast:
      return ScalarBitCast(instruction), true;
    default:
      break;
  }
  const Vec reg = values_.NewVector();
  if (instruction.getOpcode() == Instruction::FPExt && from.is_float && to.is_float) {
    a_.Vex(kSsToSd, 128, reg, reg, Float(value));
  } else if (instruction.getOpcode() == Instruction::FPExt && to.is_float) {
    a_.Vex(kMovD, 128, reg, General(value));
    a_.Vex(kPhToPs, 128, reg, reg);
    if (to.bits == 64) a_.Vex(kSsToSd, 128, reg, reg, reg);
  } else if (instruction.getOpcode() == Instruction::FPTrunc && from.is_float && to.is_float) {
    a_.Vex(kSdToSs, 128, reg, reg, Float(value));
  } else if (instruction.getOpcode() == Instruction::FPTrunc && from.bits == 32) {
    constexpr uint8_t kRoundAsAlways = 4;
    a_.VexImmediate(kPsToPh, 128, Float(value), Vec{}, reg, kRoundAsAlways);
    const Gpr bits = values_.NewGeneral();
    a_.Vex(kMovDStore, 128, reg, bits);
    Canonical(bits, 16);
    SetGeneral(instruction, bits);
    return true;
  } else {
    return false;
  }
  SetFloat(instruction, reg);
  return true;
}

}  // namespace assay::direct
