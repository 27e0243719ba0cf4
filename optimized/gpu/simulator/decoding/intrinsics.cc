// Intrinsics of LLVM that are arithmetic or move bytes.
#include <utility>
#include <vector>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/gpu/simulator/decoding/decoder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Intrinsic::ID;

struct IntrinsicRow {
  ID id;
  LaneOp op;
  int operands;
};
constexpr IntrinsicRow kIntrinsicRows[] = {
    {llvm::Intrinsic::fma, kFma, 3},
    {llvm::Intrinsic::sqrt, kSqrt, 1},
    {llvm::Intrinsic::fabs, kFAbs, 1},
    {llvm::Intrinsic::copysign, kCopySign, 2},
    {llvm::Intrinsic::minnum, kMinNum, 2},
    {llvm::Intrinsic::maxnum, kMaxNum, 2},
    {llvm::Intrinsic::minimumnum, kMinNum, 2},
    {llvm::Intrinsic::maximumnum, kMaxNum, 2},
    {llvm::Intrinsic::minimum, kMinimum, 2},
    {llvm::Intrinsic::maximum, kMaximum, 2},
    {llvm::Intrinsic::floor, kFloor, 1},
    {llvm::Intrinsic::ceil, kCeil, 1},
    {llvm::Intrinsic::trunc, kTrunc, 1},
    {llvm::Intrinsic::rint, kRoundEven, 1},
    {llvm::Intrinsic::nearbyint, kRoundEven, 1},
    {llvm::Intrinsic::roundeven, kRoundEven, 1},
    {llvm::Intrinsic::round, kRound, 1},
    {llvm::Intrinsic::ldexp, kLdexp, 2},
    {llvm::Intrinsic::ctpop, kPopulation, 1},
    {llvm::Intrinsic::bswap, kSwapBytes, 1},
    {llvm::Intrinsic::umin, kUMin, 2},
    {llvm::Intrinsic::umax, kUMax, 2},
    {llvm::Intrinsic::nvvm_sqrt_rn_f, kSqrt, 1},
    {llvm::Intrinsic::nvvm_sqrt_rn_d, kSqrt, 1},
    {llvm::Intrinsic::nvvm_fma_rn_f, kFma, 3},
    {llvm::Intrinsic::nvvm_fma_rn_d, kFma, 3},
    {llvm::Intrinsic::nvvm_add_rn_f, kFAdd, 2},
    {llvm::Intrinsic::nvvm_add_rn_d, kFAdd, 2},
    {llvm::Intrinsic::nvvm_mul_rn_f, kFMul, 2},
    {llvm::Intrinsic::nvvm_mul_rn_d, kFMul, 2},
    {llvm::Intrinsic::nvvm_div_rn_f, kFDiv, 2},
    {llvm::Intrinsic::nvvm_div_rn_d, kFDiv, 2},
};
// Odd widths of these need more, or are not to be had.
constexpr IntrinsicRow kWholeWidthRows[] = {
    {llvm::Intrinsic::sadd_sat, kSAddSat, 2}, {llvm::Intrinsic::uadd_sat, kUAddSat, 2},
    {llvm::Intrinsic::ssub_sat, kSSubSat, 2}, {llvm::Intrinsic::usub_sat, kUSubSat, 2},
    {llvm::Intrinsic::fshl, kFunnelLeft, 3},  {llvm::Intrinsic::fshr, kFunnelRight, 3},
};
struct OverflowRow {
  ID id;
  LaneOp result, overflow;
};
constexpr OverflowRow kOverflowRows[] = {
    {llvm::Intrinsic::sadd_with_overflow, kAdd, kSAddOverflow},
    {llvm::Intrinsic::uadd_with_overflow, kAdd, kUAddOverflow},
    {llvm::Intrinsic::ssub_with_overflow, kSub, kSSubOverflow},
    {llvm::Intrinsic::usub_with_overflow, kSub, kUSubOverflow},
    {llvm::Intrinsic::smul_with_overflow, kMul, kSMulOverflow},
    {llvm::Intrinsic::umul_with_overflow, kMul, kUMulOverflow},
};

// An operation that is the same for each element of a vector.
using OneElement = absl::StatusOr<Register> (*)(Decoder&, const llvm::IntrinsicInst&, ScalarType,
                                                const std::vector<Register>&);

absl::Status ForElements(Decoder& decoder, const llvm::IntrinsicInst& call, size_t operand_count,
                         OneElement one) {
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(call.getType()->getScalarType()));
  std::vector<Registers> operands(operand_count);
  for (size_t k = 0; k < operand_count; ++k) {
    ASSAY_ASSIGN_OR_RETURN(operands[k], decoder.ValueOf(call.getArgOperand(k)));
  }
  Registers result;
  for (size_t at = 0; at < operands[0].size(); ++at) {
    std::vector<Register> scalars;
    for (const Registers& operand : operands) {
      scalars.push_back(operand[operand.size() == 1 ? 0 : at]);
    }
    ASSAY_ASSIGN_OR_RETURN(const Register made, one(decoder, call, type, scalars));
    result.push_back(made);
  }
  decoder.Define(&call, std::move(result));
  return absl::OkStatus();
}

const IntrinsicRow* FindRow(ID id, bool& is_whole) {
  is_whole = false;
  for (const IntrinsicRow& row : kIntrinsicRows) {
    if (row.id == id) return &row;
  }
  is_whole = true;
  for (const IntrinsicRow& row : kWholeWidthRows) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

absl::StatusOr<Register> ByTable(Decoder& decoder, const llvm::IntrinsicInst& call, ScalarType type,
                                 const std::vector<Register>& operands) {
  bool is_whole = false;
  const IntrinsicRow* row = FindRow(call.getIntrinsicID(), is_whole);
  if (is_whole && type.is_odd()) return decoder.Unknown(call, "not of this width");
  if (row->op == kLdexp && !call.getArgOperand(1)->getType()->isIntOrIntVectorTy(32)) {
    return decoder.Unknown(call, "its exponent has no 32 bits");
  }
  if (Lanes().ops[row->op][type.lane] == nullptr) return decoder.Unknown(call, "not of this type");
  return decoder.Apply(row->op, type.lane, operands[0],
                       operands.size() > 1 ? operands[1] : kNoRegister,
                       operands.size() > 2 ? operands[2] : kNoRegister);
}

absl::StatusOr<Register> SignedOne(Decoder& decoder, const llvm::IntrinsicInst& call,
                                   ScalarType type, const std::vector<Register>& operands) {
  const Register a = decoder.SignExtended(type, operands[0]);
  if (call.getIntrinsicID() == llvm::Intrinsic::abs) {
    return decoder.Narrow(type, decoder.Apply(kAbs, type.lane, a));
  }
  const Register b = decoder.SignExtended(type, operands[1]);
  const LaneOp op = call.getIntrinsicID() == llvm::Intrinsic::smin ? kSMin : kSMax;
  return decoder.Narrow(type, decoder.Apply(op, type.lane, a, b));
}

absl::StatusOr<Register> CountOne(Decoder& decoder, const llvm::IntrinsicInst& call,
                                  ScalarType type, const std::vector<Register>& operands) {
  const int missing = 8 * type.bytes() - type.bits;
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::ctlz:
      return decoder.Apply(kSub, type.lane, decoder.Apply(kLeadingZeros, type.lane, operands[0]),
                           decoder.Number(type.bytes(), missing));
    case llvm::Intrinsic::cttz:
      return decoder.Apply(kUMin, type.lane, decoder.Apply(kTrailingZeros, type.lane, operands[0]),
                           decoder.Number(type.bytes(), type.bits));
    default:  // bitreverse
      return decoder.Apply(kLShr, type.lane, decoder.Apply(kReverseBits, type.lane, operands[0]),
                           decoder.Number(type.bytes(), missing));
  }
}

absl::StatusOr<Register> SaturateOne(Decoder& decoder, const llvm::IntrinsicInst& call,
                                     ScalarType type, const std::vector<Register>& operands) {
  ASSAY_ASSIGN_OR_RETURN(const ScalarType from,
                         decoder.Scalar(call.getArgOperand(0)->getType()->getScalarType()));
  const bool is_signed = call.getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
  return FloatToInteger(decoder, from, type, is_signed, operands[0]);
}

// With one rounding, which is what the device's instruction gives.
absl::StatusOr<Register> MultiplyAddOne(Decoder& decoder, const llvm::IntrinsicInst&,
                                        ScalarType type, const std::vector<Register>& operands) {
  return decoder.Apply(kFma, type.lane, operands[0], operands[1], operands[2]);
}

absl::Status DecodeOverflow(Decoder& decoder, const llvm::IntrinsicInst& call,
                            const OverflowRow& row) {
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type,
                         decoder.Scalar(call.getArgOperand(0)->getType()->getScalarType()));
  if (type.is_odd()) return decoder.Unknown(call, "not of this width");
  ASSAY_ASSIGN_OR_RETURN(const Registers a, decoder.ValueOf(call.getArgOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(const Registers b, decoder.ValueOf(call.getArgOperand(1)));
  Registers result;
  for (const LaneOp op : {row.result, row.overflow}) {
    for (size_t k = 0; k < a.size(); ++k) {
      result.push_back(decoder.Apply(op, type.lane, a[k], b[k]));
    }
  }
  decoder.Define(&call, std::move(result));
  return absl::OkStatus();
}

// Tells whether a float is of certain classes: each is an interval of codes.
absl::Status DecodeClass(Decoder& decoder, const llvm::IntrinsicInst& call) {
  llvm::Type* type = call.getArgOperand(0)->getType();
  if (type->isVectorTy()) return decoder.Unknown(call, "vectors");
  ASSAY_ASSIGN_OR_RETURN(const ScalarType scalar, decoder.Scalar(type));
  ASSAY_ASSIGN_OR_RETURN(const Register code, decoder.ScalarOf(call.getArgOperand(0)));
  const auto classes =
      static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  const LaneType lane = scalar.bits == 16 ? kI16 : scalar.bits == 32 ? kI32 : kI64;
  const uint64_t sign = uint64_t{1} << (scalar.bits - 1);
  const uint64_t normal = uint64_t{1} << (type->getFPMantissaWidth() - 1);
  const uint64_t infinity = sign - normal, quiet = infinity | normal >> 1;
  struct Class {
    unsigned positive, negative;
    uint64_t low, high;
  };
  const Class rows[] = {{llvm::fcPosZero, llvm::fcNegZero, 0, 0},
                        {llvm::fcPosSubnormal, llvm::fcNegSubnormal, 1, normal - 1},
                        {llvm::fcPosNormal, llvm::fcNegNormal, normal, infinity - 1},
                        {llvm::fcPosInf, llvm::fcNegInf, infinity, infinity},
                        {llvm::fcSNan, llvm::fcSNan, infinity + 1, quiet - 1},
                        {llvm::fcQNan, llvm::fcQNan, quiet, sign - 1}};
  Register result = decoder.Number(1, 0);
  for (const Class& row : rows) {
    for (const auto& [bit, first] :
         {std::pair(row.positive, row.low), {row.negative, sign | row.low}}) {
      if ((classes & bit) == 0) continue;
      const Register above = decoder.Apply(kSub, lane, code, decoder.Number(scalar.bytes(), first));
      const Register inside = decoder.Apply(kULessEqual, lane, above,
                                            decoder.Number(scalar.bytes(), row.high - row.low));
      result = decoder.Apply(kOr, kI8, result, inside);
    }
  }
  decoder.Define(&call, {result});
  return absl::OkStatus();
}

// Folds of the elements of a vector, in order.
absl::Status DecodeFold(Decoder& decoder, const llvm::IntrinsicInst& call) {
  struct FoldRow {
    ID id;
    LaneOp op;
  };
  constexpr FoldRow kFoldRows[] = {
      {llvm::Intrinsic::vector_reduce_add, kAdd}, {llvm::Intrinsic::vector_reduce_mul, kMul},
      {llvm::Intrinsic::vector_reduce_and, kAnd}, {llvm::Intrinsic::vector_reduce_or, kOr},
      {llvm::Intrinsic::vector_reduce_xor, kXor},
  };
  for (const FoldRow& row : kFoldRows) {
    if (row.id != call.getIntrinsicID()) continue;
    ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(call.getType()));
    ASSAY_ASSIGN_OR_RETURN(const Registers all, decoder.ValueOf(call.getArgOperand(0)));
    Register result = all[0];
    for (size_t k = 1; k < all.size(); ++k) {
      result = decoder.Apply(row.op, type.lane, result, all[k]);
    }
    decoder.Define(&call, {decoder.Narrow(type, result)});
    return absl::OkStatus();
  }
  return DecodeDeviceIntrinsic(decoder, call);
}

absl::Status DecodeBytes(Decoder& decoder, const llvm::MemIntrinsic& call) {
  const bool is_fill = llvm::isa<llvm::MemSetInst>(call);
  MemoryOp to, from;
  to.reads = false;
  to.space = call.getDestAddressSpace();
  to.alignment = call.getDestAlign().valueOrOne().value();
  decoder.FindBase(call.getRawDest(), true, to);
  ASSAY_ASSIGN_OR_RETURN(to.address, decoder.ScalarOf(call.getRawDest()));
  ASSAY_ASSIGN_OR_RETURN(Register count, decoder.ScalarOf(call.getLength()));
  ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(call.getLength()->getType()));
  if (type.lane != kI64) count = decoder.Convert(kZeroExtend, type.lane, kI64, count);
  ASSAY_ASSIGN_OR_RETURN(const Register source, decoder.ScalarOf(call.getArgOperand(1)));
  if (const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&call)) {
    from.space = transfer->getSourceAddressSpace();
    decoder.FindBase(transfer->getRawSource(), false, from);
    from.address = source;
  }
  decoder.code().memory.push_back(std::move(to));
  const uint32_t side = decoder.code().memory.size() - 1;
  decoder.code().memory.push_back(std::move(from));
  Op& op = decoder.writer().Emit(is_fill ? OpKind::kFillBytes : OpKind::kCopyBytes, side);
  op.a = decoder.code().memory[side].address;
  op.b = source;
  op.c = count;
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeIntrinsic(Decoder& decoder, const llvm::IntrinsicInst& call) {
  bool is_whole = false;
  if (const IntrinsicRow* row = FindRow(call.getIntrinsicID(), is_whole)) {
    return ForElements(decoder, call, row->operands, ByTable);
  }
  for (const OverflowRow& row : kOverflowRows) {
    if (row.id == call.getIntrinsicID()) return DecodeOverflow(decoder, call, row);
  }
  if (const auto* bytes = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
    return DecodeBytes(decoder, *bytes);
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::abs:
      return ForElements(decoder, call, 1, SignedOne);
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::smax:
      return ForElements(decoder, call, 2, SignedOne);
    case llvm::Intrinsic::ctlz:
    case llvm::Intrinsic::cttz:
    case llvm::Intrinsic::bitreverse:
      return ForElements(decoder, call, 1, CountOne);
    case llvm::Intrinsic::fptosi_sat:
    case llvm::Intrinsic::fptoui_sat:
      return ForElements(decoder, call, 1, SaturateOne);
    case llvm::Intrinsic::fmuladd:
      return ForElements(decoder, call, 3, MultiplyAddOne);
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::dbg_declare:
      return absl::OkStatus();
    case llvm::Intrinsic::is_fpclass:
      return DecodeClass(decoder, call);
    case llvm::Intrinsic::assume: {
      ASSAY_ASSIGN_OR_RETURN(const Register truth, decoder.ScalarOf(call.getArgOperand(0)));
      decoder.writer().Emit(OpKind::kRequire, static_cast<uint32_t>(Requirement::kTrue)).a = truth;
      return absl::OkStatus();
    }
    default:
      return DecodeFold(decoder, call);
  }
}

}  // namespace assay::gpu
