// Arithmetic and comparisons of floats: scalars are vectors of one lane.
#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

constexpr FloatOps kAdds{kAddPs, kAddPd, kAddSs, kAddSd};
constexpr FloatOps kSubs{kSubPs, kSubPd, kSubSs, kSubSd};
constexpr FloatOps kMuls{kMulPs, kMulPd, kMulSs, kMulSd};
constexpr FloatOps kDivs{kDivPs, kDivPd, kDivSs, kDivSd};
constexpr FloatOps kSqrts{kSqrtPs, kSqrtPd, kSqrtSs, kSqrtSd};
constexpr FloatOps kFmas{kFma213Ps, kFma213Pd, kFma213Ss, kFma213Sd};

const VexOp& OpFor(const FloatOps& ops, const Kind& kind) {
  if (kind.is_vector) return kind.bits == 32 ? ops.ps : ops.pd;
  return kind.bits == 32 ? ops.ss : ops.sd;
}

uint64_t SignBit(const Kind& kind) { return uint64_t{1} << (kind.bits - 1); }

// The number of a predicate in instructions of AVX; none of them signals.
uint8_t PredicateOf(llvm::CmpInst::Predicate predicate) {
  switch (predicate) {
    case llvm::CmpInst::FCMP_FALSE:
      return 0x0B;
    case llvm::CmpInst::FCMP_OEQ:
      return 0x00;
    case llvm::CmpInst::FCMP_OGT:
      return 0x1E;
    case llvm::CmpInst::FCMP_OGE:
      return 0x1D;
    case llvm::CmpInst::FCMP_OLT:
      return 0x11;
    case llvm::CmpInst::FCMP_OLE:
      return 0x12;
    case llvm::CmpInst::FCMP_ONE:
      return 0x0C;
    case llvm::CmpInst::FCMP_ORD:
      return 0x07;
    case llvm::CmpInst::FCMP_UNO:
      return 0x03;
    case llvm::CmpInst::FCMP_UEQ:
      return 0x08;
    case llvm::CmpInst::FCMP_UGT:
      return 0x16;
    case llvm::CmpInst::FCMP_UGE:
      return 0x15;
    case llvm::CmpInst::FCMP_ULT:
      return 0x19;
    case llvm::CmpInst::FCMP_ULE:
      return 0x1A;
    case llvm::CmpInst::FCMP_UNE:
      return 0x04;
    default:
      return 0x0F;
  }
}

}  // namespace

int FunctionTranslator::Length(const Value& value) {
  return value.getType()->isVectorTy() ? 256 : 128;
}

void FunctionTranslator::FloatArithmetic(const Instruction& instruction, const FloatOps& ops) {
  PieceByPiece(instruction, OpFor(ops, values_.KindOf(instruction)));
}

void FunctionTranslator::FloatUnary(const Instruction& instruction, const FloatOps& ops) {
  const Kind kind = values_.KindOf(instruction);
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec x = values_.Vector(*instruction.getOperand(0), k);
    const Vec to = values_.NewVector();
    if (kind.is_vector) {
      a_.Vex(OpFor(ops, kind), 256, to, x);
    } else {
      a_.Vex(OpFor(ops, kind), 128, to, x, x);
    }
    values_.Define(instruction, k, to);
    values_.ReleasePins();
  }
}

void FunctionTranslator::Round(const llvm::IntrinsicInst& call, int mode) {
  const VexOp& op = values_.KindOf(call).bits == 32 ? kRoundPs : kRoundPd;
  for (int k = 0; k < values_.Pieces(call); ++k) {
    const Vec x = values_.Vector(*call.getArgOperand(0), k);
    const Vec to = values_.NewVector();
    a_.VexImmediate(op, Length(call), to, Vec{}, x, static_cast<uint8_t>(mode));
    values_.Define(call, k, to);
    values_.ReleasePins();
  }
}

// Halves away from zero: what is added is the largest number below a half, so that nothing less
// than a half reaches the next integer.
void FunctionTranslator::RoundAway(const llvm::IntrinsicInst& call) {
  constexpr int kTruncate = 0x0B;
  const Kind kind = values_.KindOf(call);
  const bool is_single = kind.bits == 32;
  const uint64_t below_half = is_single ? 0x3EFFFFFF : 0x3FDFFFFFFFFFFFFF;
  for (int k = 0; k < values_.Pieces(call); ++k) {
    const Vec x = values_.Vector(*call.getArgOperand(0), k);
    const Vec to = values_.NewVector();
    const int length = Length(call);
    a_.Vex(kAndPs, length, to, x, values_.Splat(SignBit(kind), kind.bytes));
    a_.Vex(kOrPs, length, to, to, values_.Splat(below_half, kind.bytes));
    a_.Vex(is_single ? kAddPs : kAddPd, length, to, x, to);
    a_.VexImmediate(is_single ? kRoundPs : kRoundPd, length, to, Vec{}, to, kTruncate);
    values_.Define(call, k, to);
    values_.ReleasePins();
  }
}

// Negation, magnitude, and the sign of another number.
void FunctionTranslator::SignOps(const Instruction& instruction) {
  const Kind kind = values_.KindOf(instruction);
  const Address sign = values_.Splat(SignBit(kind), kind.bytes);
  const Address rest = values_.Splat(SignBit(kind) - 1, kind.bytes);
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  const bool takes_sign = call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::copysign;
  for (int k = 0; k < values_.Pieces(instruction); ++k) {
    const Vec x = values_.Vector(*instruction.getOperand(0), k);
    const Vec to = values_.NewVector();
    a_.Vex(call == nullptr ? kXorPs : kAndPs, Length(instruction), to, x,
           call == nullptr ? sign : rest);
    if (takes_sign) {
      a_.Vex(kAndPs, Length(instruction), ScratchVec(0),
             values_.Vector(*instruction.getOperand(1), k), sign);
      a_.Vex(kOrPs, Length(instruction), to, to, ScratchVec(0));
    }
    values_.Define(instruction, k, to);
    values_.ReleasePins();
  }
}

void FunctionTranslator::MultiplyAdd(const llvm::IntrinsicInst& call) {
  const VexOp& op = OpFor(kFmas, values_.KindOf(call));
  for (int k = 0; k < values_.Pieces(call); ++k) {
    const Vec y = values_.Vector(*call.getArgOperand(1), k);
    const Operand z = values_.VectorOperand(*call.getArgOperand(2), k);
    const Vec to = values_.VectorCopy(*call.getArgOperand(0), k);
    a_.Vex(op, Length(call), to, y, z);
    values_.Define(call, k, to);
    values_.ReleasePins();
  }
}

// The machine's instruction gives its second operand if the numbers are zeros or one is none: asked
// in both orders it gives both zeros, whose bits together are the right one.
void FunctionTranslator::FloatMinMax(const llvm::IntrinsicInst& call, bool is_max) {
  constexpr uint8_t kUnordered = 3;
  const bool is_single = values_.KindOf(call).bits == 32;
  const VexOp& op = is_max ? (is_single ? kMaxPs : kMaxPd) : (is_single ? kMinPs : kMinPd);
  const int length = Length(call);
  for (int k = 0; k < values_.Pieces(call); ++k) {
    const Vec x = values_.Vector(*call.getArgOperand(0), k);
    const Vec y = values_.Vector(*call.getArgOperand(1), k);
    const Vec to = values_.NewVector();
    const Vec other = ScratchVec(0), none = ScratchVec(1);
    a_.Vex(op, length, to, x, y);
    if (!IsForgotten("direct-code/zeros-alike")) {
      a_.Vex(op, length, other, y, x);
      a_.Vex(is_max ? kAndPs : kOrPs, length, to, to, other);
    }
    if (!IsForgotten("direct-code/no-nan")) {
      a_.Vex(is_single ? kAddPs : kAddPd, length, other, x, y);
      a_.VexImmediate(is_single ? kCmpPs : kCmpPd, length, none, x, y, kUnordered);
      a_.VexImmediate(kPblendvb, length, to, to, other, static_cast<uint8_t>(1 << 4));
    }
    values_.Define(call, k, to);
    values_.ReleasePins();
  }
}

void FunctionTranslator::FloatCompare(const llvm::FCmpInst& compare) {
  const Value& x = *compare.getOperand(0);
  const Value& y = *compare.getOperand(1);
  const Kind kind = values_.KindOf(x);
  const VexOp& op = kind.bits == 32 ? kCmpPs : kCmpPd;
  const auto predicate = static_cast<uint8_t>(
      bends_.Number("direct-code/predicate", nullptr, PredicateOf(compare.getPredicate())));
  if (!kind.is_vector) {
    a_.VexImmediate(op, 128, ScratchVec(0), values_.Vector(x), values_.VectorOperand(y), predicate);
    const Gpr to = values_.NewGeneral();
    a_.Vex(kMovDStore, 128, ScratchVec(0), to);
    a_.GroupImmediate(kAndImm, 32, to, 1);
    return values_.Define(compare, to);
  }
  values_.SetTruthBytes(compare, kind.bytes);
  for (int k = 0; k < values_.Pieces(compare); ++k) {
    const Vec first = values_.Vector(x, k);
    const Operand second = values_.VectorOperand(y, k);
    const Vec to = values_.NewVector();
    a_.VexImmediate(op, 256, to, first, second, predicate);
    values_.Define(compare, k, to);
    values_.ReleasePins();
  }
}

// Selects scalars and structs.
void FunctionTranslator::SelectFloat(const llvm::SelectInst& select) {
  const Gpr truth = values_.General(*select.getCondition());
  a_.Move(kScratch, truth);
  a_.Group(kNeg, 64, kScratch);
  a_.Vex(kMovQ, 128, ScratchVec(0), kScratch);
  for (int k = 0; k < values_.Pieces(select); ++k) {
    const Vec yes = values_.Vector(*select.getTrueValue(), k);
    const Vec no = values_.Vector(*select.getFalseValue(), k);
    const Vec to = values_.NewVector();
    a_.VexImmediate(kPblendvb, 128, to, no, yes, 0);
    values_.Define(select, k, to);
    values_.ReleasePins();
  }
}

bool FunctionTranslator::FloatIntrinsic(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::fma:
      return MultiplyAdd(call), true;
    case llvm::Intrinsic::sqrt:
      return FloatUnary(call, kSqrts), true;
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::copysign:
      return SignOps(call), true;
    case llvm::Intrinsic::floor:
      return Round(call, 0x09), true;
    case llvm::Intrinsic::ceil:
      return Round(call, 0x0A), true;
    case llvm::Intrinsic::trunc:
      return Round(call, 0x0B), true;
    case llvm::Intrinsic::roundeven:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
      return Round(call, 0x08), true;
    case llvm::Intrinsic::round:
      return RoundAway(call), true;
    case llvm::Intrinsic::maximum:
      return FloatMinMax(call, true), true;
    case llvm::Intrinsic::minimum:
      return FloatMinMax(call, false), true;
    default:
      return false;
  }
}

bool FunctionTranslator::VisitFloat(const Instruction& instruction) {
  if (const auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) {
    if (!values_.KindOf(*compare->getOperand(0)).is_float) return false;
    return FloatCompare(*compare), true;
  }
  const Kind kind = values_.KindOf(instruction);
  if (!kind.is_float) return false;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return FloatIntrinsic(*call);
  switch (instruction.getOpcode()) {
    case Instruction::FAdd:
      return FloatArithmetic(instruction, kAdds), true;
    case Instruction::FSub:
      return FloatArithmetic(instruction, kSubs), true;
    case Instruction::FMul:
      return FloatArithmetic(instruction, kMuls), true;
    case Instruction::FDiv:
      return FloatArithmetic(instruction, kDivs), true;
    case Instruction::FNeg:
      return SignOps(instruction), true;
    case Instruction::Select:
      if (kind.is_vector) return false;
      return SelectFloat(llvm::cast<llvm::SelectInst>(instruction)), true;
    default:
      return false;
  }
}

}  // namespace assay::direct
