// Conversions of whole vectors.
#include <algorithm>

#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

int SizeIndex(int bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3; }

const VexOp* Widening(int from_bytes, int to_bytes, bool is_signed) {
  static constexpr const VexOp* kSigned[3][4] = {{nullptr, &kPmovsxbw, &kPmovsxbd, &kPmovsxbq},
                                                 {nullptr, nullptr, &kPmovsxwd, &kPmovsxwq},
                                                 {nullptr, nullptr, nullptr, &kPmovsxdq}};
  static constexpr const VexOp* kUnsigned[3][4] = {{nullptr, &kPmovzxbw, &kPmovzxbd, &kPmovzxbq},
                                                   {nullptr, nullptr, &kPmovzxwd, &kPmovzxwq},
                                                   {nullptr, nullptr, nullptr, &kPmovzxdq}};
  if (from_bytes == 8) return nullptr;
  return (is_signed ? kSigned : kUnsigned)[SizeIndex(from_bytes)][SizeIndex(to_bytes)];
}

}  // namespace

// Truths of all ones stay all ones.
Address FunctionTranslator::HalveLanes(const Address& from, int lanes, int from_bytes) {
  constexpr uint8_t kEveryOther = 0x88, kMiddleSwapped = 0xD8;
  const int from_pieces = (lanes * from_bytes + kPieceBytes - 1) / kPieceBytes;
  const Address to = Area(kPieceBytes * ((from_pieces + 1) / 2));
  const Vec low = ScratchVec(0), high = ScratchVec(1);
  for (int k = 0; k < from_pieces; k += 2) {
    a_.Vex(kMovUps, 256, low, from.Plus(k * kPieceBytes));
    // One piece alone is its own neighbour, of which nothing is read later.
    a_.Vex(kMovUps, 256, high, from.Plus(std::min(k + 1, from_pieces - 1) * kPieceBytes));
    if (from_bytes == 8) {
      a_.VexImmediate(kShufps, 256, low, low, high, kEveryOther);
    } else {
      const Address mask = values_.Splat(from_bytes == 4 ? 0xFFFF : 0xFF, from_bytes);
      a_.Vex(kAndPs, 256, low, low, mask);
      a_.Vex(kAndPs, 256, high, high, mask);
      a_.Vex(from_bytes == 4 ? kPackusdw : kPackuswb, 256, low, low, high);
    }
    a_.VexImmediate(kPermq, 256, low, Vec{}, low, kMiddleSwapped);
    a_.Vex(kMovUpsStore, 256, low, to.Plus(k / 2 * kPieceBytes));
  }
  return to;
}

bool FunctionTranslator::Extend(const Instruction& instruction, bool is_signed) {
  const Value& value = *instruction.getOperand(0);
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  if (is_signed && (!to.is_whole() || !(from.is_whole() || from.is_truth()))) return false;
  if (from.is_truth()) {
    if (!HaveTruths(value, to.bytes)) return false;
    const Address one = values_.Splat(1, to.bytes);
    for (int k = 0; k < values_.Pieces(instruction); ++k) {
      const Operand truth = TruthPiece(value, to.bytes, k);
      const Vec result = values_.NewVector();
      a_.Vex(truth.is_memory ? kMovUps : kMovAps, 256, result, truth);
      if (!is_signed) a_.Vex(kAndPs, 256, result, result, one);
      values_.Define(instruction, k, result);
      values_.ReleasePins();
    }
    return true;
  }
  if (from.bytes == to.bytes) return CopyBits(instruction);
  const bool keeps_sign = is_signed && !IsForgotten("direct-code/lanes-not-negative");
  const VexOp* op = Widening(from.bytes, to.bytes, keeps_sign);
  if (op == nullptr) return false;
  const Address at = values_.InMemory(value);
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec result = values_.NewVector();
    a_.Vex(*op, 256, result, at.Plus(k * kPieceBytes * from.bytes / to.bytes));
    values_.Define(instruction, k, result);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::Truncate(const Instruction& instruction) {
  const Value& value = *instruction.getOperand(0);
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  if (to.is_truth()) {
    static constexpr const VexOp* kEquals[4] = {&kPcmpeqb, &kPcmpeqw, &kPcmpeqd, &kPcmpeqq};
    const Address one = values_.Splat(1, from.bytes);
    values_.SetTruthBytes(instruction, from.bytes);
    for (int k = 0; k < values_.Pieces(instruction); ++k) {
      const Vec x = values_.Vector(value, k);
      const Vec result = values_.NewVector();
      a_.Vex(kAndPs, 256, result, x, one);
      a_.Vex(*kEquals[SizeIndex(from.bytes)], 256, result, result, one);
      values_.Define(instruction, k, result);
      values_.ReleasePins();
    }
    return true;
  }
  if (llvm::isa<llvm::Constant>(value)) return false;
  Address at = values_.InMemory(value);
  for (int bytes = from.bytes; bytes > to.bytes; bytes /= 2) {
    at = HalveLanes(at, from.lanes, bytes);
  }
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec result = values_.NewVector();
    a_.Vex(kMovUps, 256, result, at.Plus(k * kPieceBytes));
    if (!to.is_whole()) {
      a_.Vex(kAndPs, 256, result, result, values_.Splat((1u << to.bits) - 1, to.bytes));
    }
    values_.Define(instruction, k, result);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::ExtendFloat(const Instruction& instruction) {
  const Value& value = *instruction.getOperand(0);
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  if (from.bytes * 2 != to.bytes) return false;
  const Address at = values_.InMemory(value);
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec result = values_.NewVector();
    a_.Vex(from.bytes == 2 ? kPhToPs : kPsToPd, 256, result, at.Plus(k * kPieceBytes / 2));
    values_.Define(instruction, k, result);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::TruncateFloat(const Instruction& instruction) {
  constexpr uint8_t kRoundAsAlways = 4;
  const Value& value = *instruction.getOperand(0);
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  if (to.bytes * 2 != from.bytes) return false;
  const int from_pieces = values_.Pieces(value);
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    for (int half = 0; half < 2 && 2 * k + half < from_pieces; ++half) {
      const Vec x = values_.Vector(value, 2 * k + half);
      if (from.bytes == 8) {
        a_.Vex(kPdToPs, 256, ScratchVec(half), x);
      } else {
        a_.VexImmediate(kPsToPh, 256, x, Vec{}, ScratchVec(half), kRoundAsAlways);
      }
    }
    const Vec result = values_.NewVector();
    if (2 * k + 1 < from_pieces) {
      a_.VexImmediate(kInsertF128, 256, result, ScratchVec(0), ScratchVec(1), 1);
    } else {
      a_.Vex(kMovAps, 128, result, ScratchVec(0));
    }
    values_.Define(instruction, k, result);
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::VectorIntegerToFloat(const Instruction& instruction, bool is_signed) {
  const Value& value = *instruction.getOperand(0);
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  if (!to.is_float) return false;
  if (from.is_truth()) {
    if (!HaveTruths(value, to.bytes)) return false;
    const uint64_t one = to.bits == 32 ? 0x3F800000 : 0x3FF0000000000000;
    const uint64_t sign = is_signed ? uint64_t{1} << (to.bits - 1) : 0;
    for (int k = 0; k < values_.Pieces(instruction); ++k) {
      const Operand truth = TruthPiece(value, to.bytes, k);
      const Vec result = values_.NewVector();
      a_.Vex(truth.is_memory ? kMovUps : kMovAps, 256, result, truth);
      a_.Vex(kAndPs, 256, result, result, values_.Splat(one | sign, to.bytes));
      values_.Define(instruction, k, result);
      values_.ReleasePins();
    }
    return true;
  }
  const bool fits = from.bytes < 4 ? from.is_whole() || !is_signed : from.bits == 32 && is_signed;
  if (!fits) return false;
  const Address at = values_.InMemory(value);
  const int lanes = kPieceBytes / to.bytes;  // of a piece of the result
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec result = values_.NewVector();
    Operand source = at.Plus(k * lanes * from.bytes);
    if (from.bytes < 4) {
      a_.Vex(*Widening(from.bytes, 4, is_signed), to.bits == 32 ? 256 : 128, ScratchVec(0), source);
      source = ScratchVec(0);
    }
    a_.Vex(to.bits == 32 ? kDqToPs : kDqToPd, 256, result, source);
    values_.Define(instruction, k, result);
    values_.ReleasePins();
  }
  return true;
}

// Takes the same bytes as another type.
bool FunctionTranslator::CopyBits(const Instruction& instruction) {
  const Value& value = *instruction.getOperand(0);
  const Kind from = values_.KindOf(value), to = values_.KindOf(instruction);
  const bool is_plain = from.is_vector && to.is_vector && !from.is_truth() && !to.is_truth() &&
                        from.lanes * from.bytes == to.lanes * to.bytes;
  if (!is_plain) return false;
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    values_.Define(instruction, k, values_.VectorCopy(value, k));
    values_.ReleasePins();
  }
  return true;
}

bool FunctionTranslator::VectorCast(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
      return Extend(instruction, false);
    case Instruction::SExt:
      return Extend(instruction, true);
    case Instruction::Trunc:
      return Truncate(instruction);
    case Instruction::FPExt:
      return ExtendFloat(instruction);
    case Instruction::FPTrunc:
      return TruncateFloat(instruction);
    case Instruction::SIToFP:
      return VectorIntegerToFloat(instruction, true);
    case Instruction::UIToFP:
      return VectorIntegerToFloat(instruction, false);
    case Instruction::BitCast:
      return CopyBits(instruction);
    default:
      return false;
  }
}

}  // namespace assay::direct
