// Arithmetic, comparisons, conversions, selections and what only moves scalars about.
#include <utility>
#include <vector>

#include "llvm/IR/Operator.h"
#include "optimized/gpu/simulator/decoding/decoder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

struct BinaryRow {
  unsigned opcode;
  LaneOp op;
  bool is_signed;  // operands of odd widths have their signs extended
  bool overflows;  // results of odd widths are cut
  bool divides;
};
constexpr BinaryRow kBinaryRows[] = {
    {llvm::Instruction::Add, kAdd, false, true, false},
    {llvm::Instruction::Sub, kSub, false, true, false},
    {llvm::Instruction::Mul, kMul, false, true, false},
    {llvm::Instruction::UDiv, kUDiv, false, false, true},
    {llvm::Instruction::SDiv, kSDiv, true, true, true},
    {llvm::Instruction::URem, kURem, false, false, true},
    {llvm::Instruction::SRem, kSRem, true, true, true},
    {llvm::Instruction::Shl, kShl, false, true, false},
    {llvm::Instruction::LShr, kLShr, false, false, false},
    {llvm::Instruction::AShr, kAShr, true, true, false},
    {llvm::Instruction::And, kAnd, false, false, false},
    {llvm::Instruction::Or, kOr, false, false, false},
    {llvm::Instruction::Xor, kXor, false, false, false},
    {llvm::Instruction::FAdd, kFAdd, false, false, false},
    {llvm::Instruction::FSub, kFSub, false, false, false},
    {llvm::Instruction::FMul, kFMul, false, false, false},
    {llvm::Instruction::FDiv, kFDiv, false, false, false},
    {llvm::Instruction::FRem, kFRem, false, false, false},
};

struct CompareRow {
  llvm::CmpInst::Predicate predicate;
  LaneOp op;
  bool swapped;
};
constexpr CompareRow kCompareRows[] = {
    {llvm::CmpInst::ICMP_EQ, kEqual, false},
    {llvm::CmpInst::ICMP_NE, kNotEqual, false},
    {llvm::CmpInst::ICMP_UGT, kULess, true},
    {llvm::CmpInst::ICMP_UGE, kULessEqual, true},
    {llvm::CmpInst::ICMP_ULT, kULess, false},
    {llvm::CmpInst::ICMP_ULE, kULessEqual, false},
    {llvm::CmpInst::ICMP_SGT, kSLess, true},
    {llvm::CmpInst::ICMP_SGE, kSLessEqual, true},
    {llvm::CmpInst::ICMP_SLT, kSLess, false},
    {llvm::CmpInst::ICMP_SLE, kSLessEqual, false},
    {llvm::CmpInst::FCMP_OEQ, kOrderedEqual, false},
    {llvm::CmpInst::FCMP_OGT, kOrderedLess, true},
    {llvm::CmpInst::FCMP_OGE, kOrderedLessEqual, true},
    {llvm::CmpInst::FCMP_OLT, kOrderedLess, false},
    {llvm::CmpInst::FCMP_OLE, kOrderedLessEqual, false},
    {llvm::CmpInst::FCMP_ONE, kOrderedNotEqual, false},
    {llvm::CmpInst::FCMP_ORD, kOrdered, false},
    {llvm::CmpInst::FCMP_UNO, kUnordered, false},
    {llvm::CmpInst::FCMP_UEQ, kUnorderedEqual, false},
    {llvm::CmpInst::FCMP_UGT, kUnorderedLess, true},
    {llvm::CmpInst::FCMP_UGE, kUnorderedLessEqual, true},
    {llvm::CmpInst::FCMP_ULT, kUnorderedLess, false},
    {llvm::CmpInst::FCMP_ULE, kUnorderedLessEqual, false},
    {llvm::CmpInst::FCMP_UNE, kUnorderedNotEqual, false},
};

// Divisors that may be zero are looked at.
void RequireNotZero(Decoder& decoder, ScalarType type, Register divisor) {
  uint64_t value = 0;
  if (decoder.writer().IsConstant(divisor, value) && value != 0) return;
  const uint32_t side = static_cast<uint32_t>(Requirement::kTrue);
  const Register is_good =
      decoder.Apply(kNotEqual, type.lane, divisor, decoder.Number(type.bytes(), 0));
  decoder.writer().Emit(OpKind::kRequire, side).a = is_good;
}

// Promises of an operation that no bits are lost are looked at: an index that leaves 32 bits breaks
// one.
void RequireNoOverflow(Decoder& decoder, const llvm::BinaryOperator& binary, ScalarType type,
                       std::pair<Register, Register> operands) {
  const auto* flags = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&binary);
  if (flags == nullptr || type.is_odd() || !decoder.options().checks) return;
  const auto require = [&](LaneOp op) {
    Op& made =
        decoder.writer().Emit(OpKind::kRequire, static_cast<uint32_t>(Requirement::kNoOverflow));
    made.function = Lanes().ops[op][type.lane];
    made.b = operands.first;
    made.c = operands.second;
  };
  const unsigned opcode = binary.getOpcode();
  if (opcode == llvm::Instruction::Shl) return;
  if (flags->hasNoSignedWrap()) {
    require(opcode == llvm::Instruction::Add   ? kSAddOverflow
            : opcode == llvm::Instruction::Sub ? kSSubOverflow
                                               : kSMulOverflow);
  }
  if (flags->hasNoUnsignedWrap()) {
    require(opcode == llvm::Instruction::Add   ? kUAddOverflow
            : opcode == llvm::Instruction::Sub ? kUSubOverflow
                                               : kUMulOverflow);
  }
}

// Bits of integers from one width to another, where one divides the other.
absl::StatusOr<Registers> MoveBits(Decoder& decoder, const llvm::Value& at,
                                   const Registers& operands, ScalarType from, ScalarType to) {
  from.is_float = to.is_float = false;
  constexpr LaneType kOfBytes[] = {kI8, kI8, kI16, kI16, kI32, kI32, kI32, kI32, kI64};
  from.lane = from.bytes() == 16 ? kI128 : kOfBytes[from.bytes()];
  to.lane = to.bytes() == 16 ? kI128 : kOfBytes[to.bytes()];
  Registers result;
  if (from.bits % to.bits == 0) {
    for (const Register operand : operands) {
      for (int k = 0; k < from.bits / to.bits; ++k) {
        const Register shift = decoder.Number(from.bytes(), k * to.bits);
        const Register moved = decoder.Apply(kLShr, from.lane, operand, shift);
        result.push_back(
            decoder.Narrow(to, decoder.Convert(kZeroExtend, from.lane, to.lane, moved)));
      }
    }
    return result;
  }
  if (to.bits % from.bits != 0) return decoder.Unknown(at, "these widths do not divide");
  const size_t parts = to.bits / from.bits;
  for (size_t begin = 0; begin + parts <= operands.size(); begin += parts) {
    Register all = kNoRegister;
    for (size_t k = 0; k < parts; ++k) {
      Register part = decoder.Convert(kZeroExtend, from.lane, to.lane, operands[begin + k]);
      if (k == 0) {
        all = part;
        continue;
      }
      part = decoder.Apply(kShl, to.lane, part, decoder.Number(to.bytes(), k * from.bits));
      all = decoder.Apply(kOr, to.lane, all, part);
    }
    result.push_back(all);
  }
  return result;
}

absl::StatusOr<Registers> BitCast(Decoder& decoder, const llvm::CastInst& cast) {
  ASSAY_ASSIGN_OR_RETURN(const Registers operands, decoder.ValueOf(cast.getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType from, decoder.Scalar(cast.getSrcTy()->getScalarType()));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType to, decoder.Scalar(cast.getDestTy()->getScalarType()));
  if (from.bits == to.bits) return operands;
  return MoveBits(decoder, cast, operands, from, to);
}

absl::StatusOr<Register> CastOne(Decoder& decoder, const llvm::CastInst& cast, ScalarType from,
                                 ScalarType to, Register a) {
  const auto extend = [&](LaneConversion how, Register value) {
    return from.lane == to.lane ? value : decoder.Convert(how, from.lane, to.lane, value);
  };
  switch (cast.getOpcode()) {
    case llvm::Instruction::Trunc:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
      return decoder.Narrow(to, extend(kZeroExtend, a));
    case llvm::Instruction::ZExt:
      return extend(kZeroExtend, a);
    case llvm::Instruction::SExt:
      return decoder.Narrow(to, extend(kSignExtend, decoder.SignExtended(from, a)));
    case llvm::Instruction::SIToFP:
      return decoder.Convert(kSignedToFloat, from.lane, to.lane, decoder.SignExtended(from, a));
    case llvm::Instruction::UIToFP:
      return decoder.Convert(kUnsignedToFloat, from.lane, to.lane, a);
    case llvm::Instruction::FPToSI:
      return FloatToInteger(decoder, from, to, true, a);
    case llvm::Instruction::FPToUI:
      return FloatToInteger(decoder, from, to, false, a);
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
      return decoder.Convert(kFloatToFloat, from.lane, to.lane, a);
    case llvm::Instruction::AddrSpaceCast:
      return a;
    default:
      return decoder.Unknown(cast);
  }
}

}  // namespace

absl::StatusOr<Register> FloatToInteger(Decoder& decoder, ScalarType from, ScalarType to,
                                        bool is_signed, Register a) {
  Register made =
      decoder.Convert(is_signed ? kFloatToSigned : kFloatToUnsigned, from.lane, to.lane, a);
  if (!to.is_odd()) return made;
  const unsigned __int128 one = 1;
  if (is_signed) {
    const unsigned __int128 most = (one << (to.bits - 1)) - 1;
    made = decoder.Apply(kSMin, to.lane, made, decoder.Number(to.bytes(), most));
    const unsigned __int128 all =
        to.bytes() == 16 ? ~(one - 1) | (one - 1) : (one << (8 * to.bytes())) - 1;
    made = decoder.Apply(kSMax, to.lane, made, decoder.Number(to.bytes(), ~most & all));
    return decoder.Narrow(to, made);
  }
  return decoder.Apply(kUMin, to.lane, made, decoder.Number(to.bytes(), (one << to.bits) - 1));
}

namespace {

// Sums, products and shifts that a value of 32 bits is made of, each of which must fit. Unsigned
// sums with a constant may be differences, which may.
absl::Status RequireFits(Decoder& decoder, const llvm::Value& value, bool is_signed, int depth) {
  constexpr int kMostDepth = 4;
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&value);
  if (binary == nullptr || depth > kMostDepth || !value.getType()->isIntegerTy(32)) {
    return absl::OkStatus();
  }
  LaneOp op = kSAddOverflow;
  ASSAY_ASSIGN_OR_RETURN(const Register a, decoder.ScalarOf(binary->getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(Register b, decoder.ScalarOf(binary->getOperand(1)));
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary->getOperand(1));
  switch (binary->getOpcode()) {
    case llvm::Instruction::Add:
      if (!is_signed && constant != nullptr) return absl::OkStatus();
      op = is_signed ? kSAddOverflow : kUAddOverflow;
      break;
    case llvm::Instruction::Sub:
      if (!is_signed) return absl::OkStatus();
      op = kSSubOverflow;
      break;
    case llvm::Instruction::Shl:
      if (constant == nullptr || constant->getZExtValue() > 30) return absl::OkStatus();
      b = decoder.Number(4, uint64_t{1} << constant->getZExtValue());
      op = is_signed ? kSMulOverflow : kUMulOverflow;
      break;
    case llvm::Instruction::Mul:
      op = is_signed ? kSMulOverflow : kUMulOverflow;
      break;
    default:
      return absl::OkStatus();
  }
  Op& made =
      decoder.writer().Emit(OpKind::kRequire, static_cast<uint32_t>(Requirement::kIndexFits));
  made.function = Lanes().ops[op][kI32];
  made.b = a;
  made.c = b;
  for (const llvm::Value* operand : binary->operands()) {
    ASSAY_RETURN_IF_ERROR(RequireFits(decoder, *operand, is_signed, depth + 1));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RequireIndexFits(Decoder& decoder, const llvm::Value& index) {
  if (!decoder.options().checks) return absl::OkStatus();
  if (const auto* extended = llvm::dyn_cast<llvm::ZExtInst>(&index)) {
    return RequireFits(decoder, *extended->getOperand(0), /*is_signed=*/false, 0);
  }
  const auto* extended = llvm::dyn_cast<llvm::SExtInst>(&index);
  return RequireFits(decoder, extended == nullptr ? index : *extended->getOperand(0),
                     /*is_signed=*/true, 0);
}

absl::Status DecodeBinary(Decoder& decoder, const llvm::BinaryOperator& binary) {
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(binary.getType()->getScalarType()));
  ASSAY_ASSIGN_OR_RETURN(const Registers a, decoder.ValueOf(binary.getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const Registers b, decoder.ValueOf(binary.getOperand(1)));
  for (const BinaryRow& row : kBinaryRows) {
    if (row.opcode != binary.getOpcode()) continue;
    Registers result;
    for (size_t k = 0; k < a.size(); ++k) {
      if (row.divides) RequireNotZero(decoder, type, b[k]);
      const Register x = row.is_signed ? decoder.SignExtended(type, a[k]) : a[k];
      const Register y = row.is_signed && row.divides ? decoder.SignExtended(type, b[k]) : b[k];
      RequireNoOverflow(decoder, binary, type, {x, y});
      const Register made = decoder.Apply(row.op, type.lane, x, y);
      result.push_back(row.overflows ? decoder.Narrow(type, made) : made);
    }
    decoder.Define(&binary, std::move(result));
    return absl::OkStatus();
  }
  return decoder.Unknown(binary);
}

absl::Status DecodeCompare(Decoder& decoder, const llvm::CmpInst& compare) {
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type,
                         decoder.Scalar(compare.getOperand(0)->getType()->getScalarType()));
  ASSAY_ASSIGN_OR_RETURN(const Registers a, decoder.ValueOf(compare.getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const Registers b, decoder.ValueOf(compare.getOperand(1)));
  Registers result;
  if (compare.getPredicate() == llvm::CmpInst::FCMP_TRUE ||
      compare.getPredicate() == llvm::CmpInst::FCMP_FALSE) {
    result.assign(a.size(),
                  decoder.Number(1, compare.getPredicate() == llvm::CmpInst::FCMP_TRUE ? 1 : 0));
    decoder.Define(&compare, std::move(result));
    return absl::OkStatus();
  }
  for (const CompareRow& row : kCompareRows) {
    if (row.predicate != compare.getPredicate()) continue;
    for (size_t k = 0; k < a.size(); ++k) {
      Register x = a[k], y = b[k];
      if (row.op == kSLess || row.op == kSLessEqual) {
        x = decoder.SignExtended(type, x);
        y = decoder.SignExtended(type, y);
      }
      if (row.swapped) std::swap(x, y);
      result.push_back(decoder.Apply(row.op, type.lane, x, y));
    }
    decoder.Define(&compare, std::move(result));
    return absl::OkStatus();
  }
  return decoder.Unknown(compare);
}

absl::Status DecodeCast(Decoder& decoder, const llvm::CastInst& cast) {
  if (cast.getOpcode() == llvm::Instruction::BitCast) {
    ASSAY_ASSIGN_OR_RETURN(Registers moved, BitCast(decoder, cast));
    decoder.Define(&cast, std::move(moved));
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const ScalarType from, decoder.Scalar(cast.getSrcTy()->getScalarType()));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType to, decoder.Scalar(cast.getDestTy()->getScalarType()));
  ASSAY_ASSIGN_OR_RETURN(const Registers operands, decoder.ValueOf(cast.getOperand(0)));
  Registers result;
  for (const Register operand : operands) {
    ASSAY_ASSIGN_OR_RETURN(const Register made, CastOne(decoder, cast, from, to, operand));
    result.push_back(made);
  }
  decoder.Define(&cast, std::move(result));
  return absl::OkStatus();
}

absl::Status DecodeSelect(Decoder& decoder, const llvm::SelectInst& select) {
  ASSAY_ASSIGN_OR_RETURN(const Registers conditions, decoder.ValueOf(select.getCondition()));
  ASSAY_ASSIGN_OR_RETURN(const Registers yes, decoder.ValueOf(select.getTrueValue()));
  ASSAY_ASSIGN_OR_RETURN(const Registers no, decoder.ValueOf(select.getFalseValue()));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars,
                         decoder.Scalars(select.getType()));
  Registers result;
  for (size_t k = 0; k < yes.size(); ++k) {
    result.push_back(decoder.Apply(kSelect, scalars[k].type.lane,
                                   conditions[conditions.size() == 1 ? 0 : k], yes[k], no[k]));
  }
  decoder.Define(&select, std::move(result));
  return absl::OkStatus();
}

namespace {

// The scalars of aggregates are numbered through: the first of what the indices name.
absl::StatusOr<size_t> FirstScalar(Decoder& decoder, llvm::Type* type,
                                   llvm::ArrayRef<unsigned> indices) {
  size_t first = 0;
  for (const unsigned index : indices) {
    for (unsigned k = 0; k < index; ++k) {
      llvm::Type* before = llvm::GetElementPtrInst::getTypeAtIndex(type, uint64_t{k});
      ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, decoder.Scalars(before));
      first += scalars.size();
    }
    type = llvm::GetElementPtrInst::getTypeAtIndex(type, uint64_t{index});
  }
  return first;
}

absl::StatusOr<Registers> ExtractValue(Decoder& decoder, const llvm::ExtractValueInst& extract) {
  ASSAY_ASSIGN_OR_RETURN(const Registers all, decoder.ValueOf(extract.getAggregateOperand()));
  ASSAY_ASSIGN_OR_RETURN(
      const size_t first,
      FirstScalar(decoder, extract.getAggregateOperand()->getType(), extract.getIndices()));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars,
                         decoder.Scalars(extract.getType()));
  return Registers(all.begin() + first, all.begin() + first + scalars.size());
}

absl::StatusOr<Registers> InsertValue(Decoder& decoder, const llvm::InsertValueInst& insert) {
  ASSAY_ASSIGN_OR_RETURN(Registers all, decoder.ValueOf(insert.getAggregateOperand()));
  ASSAY_ASSIGN_OR_RETURN(const Registers part, decoder.ValueOf(insert.getInsertedValueOperand()));
  ASSAY_ASSIGN_OR_RETURN(const size_t first,
                         FirstScalar(decoder, insert.getType(), insert.getIndices()));
  std::copy(part.begin(), part.end(), all.begin() + first);
  return all;
}

// An element whose number is not known before is chosen among all.
absl::StatusOr<Registers> ExtractElement(Decoder& decoder, const llvm::ExtractElementInst& it) {
  ASSAY_ASSIGN_OR_RETURN(const Registers all, decoder.ValueOf(it.getVectorOperand()));
  if (const auto* at = llvm::dyn_cast<llvm::ConstantInt>(it.getIndexOperand())) {
    return Registers{all[at->getValue().getLimitedValue(all.size() - 1)]};
  }
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(it.getType()));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType index, decoder.Scalar(it.getIndexOperand()->getType()));
  ASSAY_ASSIGN_OR_RETURN(const Register at, decoder.ScalarOf(it.getIndexOperand()));
  Register result = all[0];
  for (size_t k = 1; k < all.size(); ++k) {
    const Register is_it = decoder.Apply(kEqual, index.lane, at, decoder.Number(index.bytes(), k));
    result = decoder.Apply(kSelect, type.lane, is_it, all[k], result);
  }
  return Registers{result};
}

absl::StatusOr<Registers> InsertElement(Decoder& decoder, const llvm::InsertElementInst& it) {
  ASSAY_ASSIGN_OR_RETURN(Registers all, decoder.ValueOf(it.getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const Register element, decoder.ScalarOf(it.getOperand(1)));
  if (const auto* at = llvm::dyn_cast<llvm::ConstantInt>(it.getOperand(2))) {
    all[at->getValue().getLimitedValue(all.size() - 1)] = element;
    return all;
  }
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(it.getOperand(1)->getType()));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType index, decoder.Scalar(it.getOperand(2)->getType()));
  ASSAY_ASSIGN_OR_RETURN(const Register at, decoder.ScalarOf(it.getOperand(2)));
  for (size_t k = 0; k < all.size(); ++k) {
    const Register is_it = decoder.Apply(kEqual, index.lane, at, decoder.Number(index.bytes(), k));
    all[k] = decoder.Apply(kSelect, type.lane, is_it, element, all[k]);
  }
  return all;
}

absl::StatusOr<Registers> ShuffleElements(Decoder& decoder, const llvm::ShuffleVectorInst& it) {
  ASSAY_ASSIGN_OR_RETURN(Registers all, decoder.ValueOf(it.getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const Registers others, decoder.ValueOf(it.getOperand(1)));
  all.append(others);
  Registers result;
  for (const int at : it.getShuffleMask()) result.push_back(all[at < 0 ? 0 : at]);
  return result;
}

absl::StatusOr<Registers> NegateFloats(Decoder& decoder, const llvm::Instruction& negate) {
  ASSAY_ASSIGN_OR_RETURN(const Registers all, decoder.ValueOf(negate.getOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(negate.getType()->getScalarType()));
  Registers result;
  for (const Register one : all) result.push_back(decoder.Apply(kFNeg, type.lane, one));
  return result;
}

absl::StatusOr<Registers> MovedScalars(Decoder& decoder, const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FNeg:
      return NegateFloats(decoder, instruction);
    case llvm::Instruction::ExtractElement:
      return ExtractElement(decoder, llvm::cast<llvm::ExtractElementInst>(instruction));
    case llvm::Instruction::InsertElement:
      return InsertElement(decoder, llvm::cast<llvm::InsertElementInst>(instruction));
    case llvm::Instruction::ShuffleVector:
      return ShuffleElements(decoder, llvm::cast<llvm::ShuffleVectorInst>(instruction));
    case llvm::Instruction::ExtractValue:
      return ExtractValue(decoder, llvm::cast<llvm::ExtractValueInst>(instruction));
    case llvm::Instruction::InsertValue:
      return InsertValue(decoder, llvm::cast<llvm::InsertValueInst>(instruction));
    default:  // freeze: what has no value is 0
      return decoder.ValueOf(instruction.getOperand(0));
  }
}

}  // namespace

absl::Status DecodeAggregate(Decoder& decoder, const llvm::Instruction& instruction) {
  ASSAY_ASSIGN_OR_RETURN(Registers moved, MovedScalars(decoder, instruction));
  decoder.Define(&instruction, std::move(moved));
  return absl::OkStatus();
}

}  // namespace assay::gpu
