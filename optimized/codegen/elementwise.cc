// A function for each element-wise op on real numbers, and their table.
#include "optimized/codegen/elementwise.h"

#include <cmath>
#include <limits>

#include "llvm/IR/Intrinsics.h"
#include "optimized/codegen/functions/complex.h"
#include "optimized/codegen/functions/math_functions.h"
#include "spec/types/float_format.h"

namespace assay {

using llvm::ArrayRef;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

ElementType OperandType(const Instruction& instruction) {
  return instruction.operand(0)->shape().element_type();
}

// Applies `f` to the widened operands and rounds the result back to the operand type.
template <typename F>
Value* InArithmetic(ValueBuilder& builder, ElementType type, ArrayRef<Value*> operands, F f) {
  std::vector<Value*> wide;
  for (Value* v : operands) wide.push_back(builder.Widen(type, v));
  return builder.Narrow(type, f(wide));
}

template <ID kId>
Value* FloatIntrinsic(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return InArithmetic(builder, OperandType(instruction), v, [&](ArrayRef<Value*> w) {
    return builder.ir().CreateUnaryIntrinsic(kId, w[0]);
  });
}

template <Value* (*kFunction)(ValueBuilder&, Value*)>
Value* FloatFunction(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return InArithmetic(builder, OperandType(instruction), v,
                      [&](ArrayRef<Value*> w) { return kFunction(builder, w[0]); });
}

// A function of the C library; the template argument is its name.
template <size_t kSize>
struct FunctionName {
  char text[kSize];
  constexpr FunctionName(
      const char (&name)[kSize]) {  // NOLINT: implicit so that a literal can be an argument
    for (size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
};
template <FunctionName kName>
Value* Libm(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return InArithmetic(builder, OperandType(instruction), v,
                      [&](ArrayRef<Value*> w) { return EmitLibm(builder, kName.text, w); });
}

Value* SignBit(ValueBuilder& builder, ElementType type, llvm::Type* bits) {
  return builder.Int(bits, uint64_t{1} << (BitWidth(type) - 1));
}

// True if the type has -0 and so a sign bit. In other types the code of -0 is the NaN, or there is
// no sign at all.
bool SignIsABit(ElementType type) { return IsFloat(type) && Format(type).HasNegativeZero(); }

Value* Abs(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  ElementType type = OperandType(instruction);
  if (IsFloat(type) && !SignIsABit(type))
    return FloatIntrinsic<llvm::Intrinsic::fabs>(builder, instruction, v);
  if (IsFloat(type)) {
    Value* bits = builder.ToBits(type, v[0]);
    Value* mask = builder.ir().CreateNot(SignBit(builder, type, bits->getType()));
    return builder.FromBits(type, builder.ir().CreateAnd(bits, mask));
  }
  if (!IsSigned(type)) return v[0];
  return builder.ir().CreateBinaryIntrinsic(llvm::Intrinsic::abs, v[0], builder.ir().getFalse());
}

Value* Negate(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  ElementType type = OperandType(instruction);
  if (!IsFloat(type)) return builder.ir().CreateNeg(v[0]);
  if (!SignIsABit(type)) {
    return InArithmetic(builder, type, v,
                        [&](ArrayRef<Value*> w) { return builder.ir().CreateFNeg(w[0]); });
  }
  Value* bits = builder.ToBits(type, v[0]);
  return builder.FromBits(type,
                          builder.ir().CreateXor(bits, SignBit(builder, type, bits->getType())));
}

Value* Sign(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  ElementType type = OperandType(instruction);
  if (IsFloat(type)) {
    Value* x = builder.Widen(type, v[0]);
    Value* one = builder.Float(x->getType(), 1);
    Value* unit = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, one, x);
    // Zeros keep their sign and NaN stays NaN: both are the operand itself.
    Value* keep = ir.CreateFCmpUEQ(x, builder.Float(x->getType(), 0));
    return builder.Narrow(type, ir.CreateSelect(keep, x, unit));
  }
  llvm::Type* t = v[0]->getType();
  Value* positive = ir.CreateZExt(ir.CreateICmpNE(v[0], builder.Int(t, 0)), t);
  if (!IsSigned(type)) return positive;
  return ir.CreateOr(ir.CreateAShr(v[0], builder.Int(t, BitWidth(type) - 1)), positive);
}

Value* Not(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateNot(v[0]);
}

Value* Popcnt(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, v[0]);
}
Value* Clz(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v[0], builder.ir().getFalse());
}

Value* IsFinite(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  Value* x = builder.Widen(OperandType(instruction), v[0]);
  Value* magnitude = builder.ir().CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  return builder.ir().CreateFCmpOLT(
      magnitude, builder.Float(x->getType(), std::numeric_limits<double>::infinity()));
}

Value* Real(ValueBuilder&, const Instruction&, ArrayRef<Value*> v) { return v[0]; }
Value* Imag(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  const ElementType type = OperandType(instruction);
  llvm::Type* const t = builder.RegisterType(type, builder.WidthOf(v[0]));
  // A type without a zero has NaN for it.
  if (IsFloat(type) && Format(type).special == SpecialValues::kExponent)
    return builder.Int(t, EncodeFloat(Format(type), 0));
  return llvm::Constant::getNullValue(t);
}

Value* Add(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return EmitAdd(builder, OperandType(instruction), v[0], v[1]);
}
Value* Multiply(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return EmitMultiply(builder, OperandType(instruction), v[0], v[1]);
}
Value* Maximum(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return EmitMaximum(builder, OperandType(instruction), v[0], v[1]);
}
Value* Minimum(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return EmitMinimum(builder, OperandType(instruction), v[0], v[1]);
}

// The upper half of the product.
Value* Mulhi(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  const ElementType type = OperandType(instruction);
  const int bits = BitWidth(type);
  llvm::Type* wide = builder.WithWidth(ir.getIntNTy(2 * bits), builder.WidthOf(v[0]));
  Value* product = ir.CreateMul(ir.CreateIntCast(v[0], wide, IsSigned(type)),
                                ir.CreateIntCast(v[1], wide, IsSigned(type)));
  return ir.CreateTrunc(ir.CreateLShr(product, builder.Int(wide, bits)), v[0]->getType());
}

Value* Subtract(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  ElementType type = OperandType(instruction);
  if (!IsFloat(type)) return builder.ir().CreateSub(v[0], v[1]);
  return InArithmetic(builder, type, v,
                      [&](ArrayRef<Value*> w) { return builder.ir().CreateFSub(w[0], w[1]); });
}

// The divisors for which an integer division is defined as it stands: zero and MIN / -1 are
// replaced by 1.
Value* SafeDivisor(ValueBuilder& builder, ElementType type, Value* x, Value* y) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* t = y->getType();
  Value* unsafe = ir.CreateICmpEQ(y, builder.Int(t, 0));
  if (IsSigned(type)) {
    Value* overflow = ir.CreateAnd(ir.CreateICmpEQ(x, SignBit(builder, type, t)),
                                   ir.CreateICmpEQ(y, builder.Int(t, ~uint64_t{0})));
    unsafe = ir.CreateOr(unsafe, overflow);
  }
  return ir.CreateSelect(unsafe, builder.Int(t, 1), y);
}

Value* Divide(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  ElementType type = OperandType(instruction);
  if (IsFloat(type)) {
    return InArithmetic(builder, type, v,
                        [&](ArrayRef<Value*> w) { return ir.CreateFDiv(w[0], w[1]); });
  }
  Value* safe = SafeDivisor(builder, type, v[0], v[1]);
  Value* quotient = IsSigned(type) ? ir.CreateSDiv(v[0], safe) : ir.CreateUDiv(v[0], safe);
  llvm::Type* t = v[1]->getType();
  return ir.CreateSelect(ir.CreateICmpEQ(v[1], builder.Int(t, 0)), builder.Int(t, ~uint64_t{0}),
                         quotient);
}

Value* Remainder(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  ElementType type = OperandType(instruction);
  if (IsFloat(type)) {
    return InArithmetic(builder, type, v, [&](ArrayRef<Value*> w) {
      llvm::Type* scalar = w[0]->getType()->getScalarType();
      return CallPerLane(builder, scalar->isDoubleTy() ? "fmod" : "fmodf", scalar, w);
    });
  }
  Value* safe = SafeDivisor(builder, type, v[0], v[1]);
  Value* remainder = IsSigned(type) ? ir.CreateSRem(v[0], safe) : ir.CreateURem(v[0], safe);
  llvm::Type* t = v[1]->getType();
  return ir.CreateSelect(ir.CreateICmpEQ(v[1], builder.Int(t, 0)), v[0], remainder);
}

Value* IntegerPower(ValueBuilder& builder, ElementType type, Value* base, Value* exponent) {
  llvm::IRBuilder<>& ir = builder.ir();
  int width = builder.WidthOf(base);
  llvm::Type* t = base->getType();
  llvm::Type* i64 = builder.WithWidth(ir.getInt64Ty(), width);
  // Modulo 2^64 and cut: the low bits of a product depend on low bits alone.
  Value* wide = CallPerLane(builder, "power_u64", ir.getInt64Ty(),
                            {ir.CreateZExt(base, i64), ir.CreateZExt(exponent, i64)});
  Value* result = ir.CreateTrunc(wide, t);
  if (!IsSigned(type)) return result;
  Value* odd = ir.CreateICmpNE(ir.CreateAnd(exponent, builder.Int(t, 1)), builder.Int(t, 0));
  Value* minus_one = builder.Int(t, ~uint64_t{0});
  Value* of_minus_one = ir.CreateSelect(odd, minus_one, builder.Int(t, 1));
  Value* inverse =
      ir.CreateSelect(ir.CreateICmpEQ(base, minus_one), of_minus_one, builder.Int(t, 0));
  inverse = ir.CreateSelect(ir.CreateICmpEQ(base, builder.Int(t, 1)), builder.Int(t, 1), inverse);
  return ir.CreateSelect(ir.CreateICmpSLT(exponent, builder.Int(t, 0)), inverse, result);
}

Value* Power(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  ElementType type = OperandType(instruction);
  if (!IsFloat(type)) return IntegerPower(builder, type, v[0], v[1]);
  return InArithmetic(builder, type, v,
                      [&](ArrayRef<Value*> w) { return EmitPower(builder, w[0], w[1]); });
}

Value* Atan2(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return InArithmetic(builder, OperandType(instruction), v,
                      [&](ArrayRef<Value*> w) { return EmitAtan2(builder, w[0], w[1]); });
}

Value* And(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateAnd(v[0], v[1]);
}
Value* Or(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateOr(v[0], v[1]);
}
Value* Xor(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateXor(v[0], v[1]);
}

// A shift by the width or more, which LLVM leaves undefined, gives zero (or the sign).
template <llvm::Instruction::BinaryOps kShift>
Value* Shift(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* t = v[0]->getType();
  int bits = BitWidth(OperandType(instruction));
  if (kShift == llvm::Instruction::AShr) {
    Value* last = builder.Int(t, bits - 1);
    Value* amount = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v[1], last);
    return ir.CreateAShr(v[0], amount);
  }
  Value* in_range = ir.CreateICmpULT(v[1], builder.Int(t, bits));
  Value* amount = ir.CreateSelect(in_range, v[1], builder.Int(t, 0));
  return ir.CreateSelect(in_range, ir.CreateBinOp(kShift, v[0], amount), builder.Int(t, 0));
}

Value* Compare(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  using P = llvm::CmpInst::Predicate;
  ElementType type = OperandType(instruction);
  Direction written = static_cast<Direction>(instruction.attributes().Integer(Attr::kDirection));
  size_t direction = static_cast<size_t>(builder.bends().Bent(written));
  static constexpr P kFloat[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OGE,
                                 P::FCMP_OGT, P::FCMP_OLE, P::FCMP_OLT};
  static constexpr P kSigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SGE,
                                  P::ICMP_SGT, P::ICMP_SLE, P::ICMP_SLT};
  static constexpr P kUnsigned[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_UGE,
                                    P::ICMP_UGT, P::ICMP_ULE, P::ICMP_ULT};
  if (!IsFloat(type)) {
    return builder.ir().CreateICmp(IsSigned(type) ? kSigned[direction] : kUnsigned[direction], v[0],
                                   v[1]);
  }
  bool total = instruction.attributes().Integer(Attr::kCompareType, 0) ==
               static_cast<int64_t>(CompareType::kTotalOrder);
  if (total) {
    return builder.ir().CreateICmp(kSigned[direction], EmitTotalOrderKey(builder, type, v[0]),
                                   EmitTotalOrderKey(builder, type, v[1]));
  }
  return builder.ir().CreateFCmp(kFloat[direction], builder.Widen(type, v[0]),
                                 builder.Widen(type, v[1]));
}

Value* Select(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateSelect(v[0], v[1], v[2]);
}

Value* Clamp(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  ElementType type = instruction.shape().element_type();
  return EmitMinimum(builder, type, EmitMaximum(builder, type, v[1], v[0]), v[2]);
}

Value* Convert(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return builder.Convert(OperandType(instruction), instruction.shape().element_type(), v[0]);
}

// True where the code, whose bits but the sign are `magnitude`, is a NaN.
Value* IsNan(ValueBuilder& builder, const FloatFormat& format, Value* bits, Value* magnitude) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* t = bits->getType();
  const uint64_t sign_mask = uint64_t{1} << (format.bits() - 1);
  switch (format.special) {
    case SpecialValues::kIeee:
      return ir.CreateICmpUGT(magnitude,
                              builder.Int(t, sign_mask - (uint64_t{1} << format.mantissa_bits)));
    case SpecialValues::kFn:
      return ir.CreateICmpEQ(magnitude, builder.Int(t, sign_mask - 1));
    case SpecialValues::kFnuz:
      return ir.CreateICmpEQ(bits, builder.Int(t, sign_mask));
    default:
      return ir.CreateICmpNE(bits, bits);
  }
}

// Rounds the type's own code: mantissa first, then the exponent range. Operation semantics
// chapter 8.
Value* ReducePrecision(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  ElementType type = OperandType(instruction);
  const FloatFormat& format = Format(type);
  if (format.special == SpecialValues::kExponent) return v[0];  // no bits to drop
  int64_t exponent_bits = instruction.attributes().Integer(Attr::kExponentBits);
  int64_t mantissa_bits = instruction.attributes().Integer(Attr::kMantissaBits);
  Value* bits = builder.ToBits(type, v[0]);
  llvm::Type* t = bits->getType();
  uint64_t sign_mask = uint64_t{1} << (BitWidth(type) - 1);
  Value* sign = ir.CreateAnd(bits, builder.Int(t, sign_mask));
  Value* magnitude = ir.CreateAnd(bits, builder.Int(t, sign_mask - 1));
  Value* is_nan = IsNan(builder, format, bits, magnitude);
  if (mantissa_bits < format.mantissa_bits) {
    int64_t dropped = format.mantissa_bits - mantissa_bits;
    Value* odd = ir.CreateAnd(ir.CreateLShr(magnitude, builder.Int(t, dropped)), builder.Int(t, 1));
    Value* bias = ir.CreateAdd(odd, builder.Int(t, (uint64_t{1} << (dropped - 1)) - 1));
    magnitude = ir.CreateAnd(ir.CreateAdd(magnitude, bias),
                             builder.Int(t, ~((uint64_t{1} << dropped) - 1)));
  }
  // Beyond the largest number there is an infinity, to which numbers are rounded, or what the
  // format has instead.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const uint64_t infinity = EncodeFloat(format, kInfinity);
  const uint64_t largest = EncodeFloat(format, format.MaxFinite());
  Value* over =
      format.HasInfinity() ? nullptr : ir.CreateICmpUGT(magnitude, builder.Int(t, largest));
  if (exponent_bits < format.exponent_bits) {
    const auto bias = static_cast<uint64_t>(format.bias);
    uint64_t narrow = (uint64_t{1} << (exponent_bits - 1)) - 1;
    Value* exponent = ir.CreateLShr(magnitude, builder.Int(t, format.mantissa_bits));
    Value* under = ir.CreateICmpULE(exponent, builder.Int(t, bias - narrow));
    Value* is_large = ir.CreateICmpUGT(exponent, builder.Int(t, bias + narrow));
    over = over == nullptr ? is_large : ir.CreateOr(over, is_large);
    magnitude = ir.CreateSelect(under, builder.Int(t, 0), magnitude);
  }
  Value* rounded = ir.CreateOr(magnitude, sign);
  if (!format.HasNegativeZero()) {
    Value* is_zero = ir.CreateICmpEQ(magnitude, builder.Int(t, 0));
    rounded = ir.CreateSelect(is_zero, builder.Int(t, 0), rounded);
  }
  if (over != nullptr) {
    Value* is_negative = ir.CreateICmpNE(sign, builder.Int(t, 0));
    Value* beyond = ir.CreateSelect(is_negative, builder.Int(t, EncodeFloat(format, -kInfinity)),
                                    builder.Int(t, infinity));
    rounded = ir.CreateSelect(over, beyond, rounded);
  }
  Value* of_nan = mantissa_bits > 0 ? bits : builder.Int(t, infinity);
  return builder.FromBits(type, ir.CreateSelect(is_nan, of_nan, rounded));
}

// The magnitude of operand 0 goes up by one, or to the next code, if its fraction is more than the
// random bits of operand 1 as a fraction.
Value* StochasticConvert(ValueBuilder& builder, const Instruction& instruction,
                         ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  const ElementType from = OperandType(instruction), to = instruction.shape().element_type();
  Value* x = builder.Widen(from, v[0]);
  llvm::Type* t = x->getType();
  const ElementType wide = t->getScalarType()->isDoubleTy() ? ElementType::kF64 : ElementType::kF32;
  Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  auto rounds_up = [&](Value* fraction) {
    Value* scaled = ir.CreateFMul(fraction, builder.Float(t, std::ldexp(1.0, BitWidth(from))));
    Value* limit = ir.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {v[1]->getType(), t}, {scaled});
    return ir.CreateICmpULT(v[1], limit);
  };
  if (!IsFloat(to)) {
    Value* whole = ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, magnitude);
    Value* up = rounds_up(ir.CreateFSub(magnitude, whole));
    Value* rounded = ir.CreateSelect(up, ir.CreateFAdd(whole, builder.Float(t, 1)), whole);
    return builder.Convert(wide, to,
                           ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, x));
  }
  auto value = [&](Value* code) { return builder.Convert(to, wide, builder.FromBits(to, code)); };
  if (BitWidth(to) >= BitWidth(wide)) return builder.Convert(wide, to, x);
  Value* nearest = builder.ToBits(to, builder.Convert(wide, to, magnitude));
  llvm::Type* bits = nearest->getType();
  Value* over = ir.CreateFCmpOGT(value(nearest), magnitude);
  Value* below = ir.CreateSub(nearest, ir.CreateZExt(over, bits));
  Value* above = ir.CreateAdd(below, builder.Int(bits, 1));
  Value* step = ir.CreateFSub(value(above), value(below));
  Value* up = rounds_up(ir.CreateFDiv(ir.CreateFSub(magnitude, value(below)), step));
  Value* code = ir.CreateSelect(up, above, below);
  Value* negative =
      ir.CreateFCmpOLT(ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, builder.Float(t, 1), x),
                       builder.Float(t, 0));
  Value* sign = ir.CreateSelect(negative, SignBit(builder, to, bits), builder.Int(bits, 0));
  return builder.FromBits(to, ir.CreateOr(code, sign));
}

struct Row {
  Opcode opcode;
  ElementwiseFn emit;
};

constexpr Row kRows[] = {
    {Opcode::kAbs, Abs},
    {Opcode::kAcos, Libm<"acos">},
    {Opcode::kAcosh, Libm<"acosh">},
    {Opcode::kAdd, Add},
    {Opcode::kAnd, And},
    {Opcode::kAsin, Libm<"asin">},
    {Opcode::kAsinh, Libm<"asinh">},
    {Opcode::kAtan2, Atan2},
    {Opcode::kAtanh, Libm<"atanh">},
    {Opcode::kCbrt, FloatFunction<EmitCbrt>},
    {Opcode::kCeil, FloatIntrinsic<llvm::Intrinsic::ceil>},
    {Opcode::kClamp, Clamp},
    {Opcode::kClz, Clz},
    {Opcode::kCompare, Compare},
    {Opcode::kConvert, Convert},
    {Opcode::kCosh, Libm<"cosh">},
    {Opcode::kCosine, FloatFunction<EmitCosine>},
    {Opcode::kDivide, Divide},
    {Opcode::kErf, FloatFunction<EmitErf>},
    {Opcode::kExponential, FloatFunction<EmitExp>},
    {Opcode::kExponentialMinusOne, FloatFunction<EmitExpm1>},
    {Opcode::kFloor, FloatIntrinsic<llvm::Intrinsic::floor>},
    {Opcode::kImag, Imag},
    {Opcode::kIsFinite, IsFinite},
    {Opcode::kLog, FloatFunction<EmitLog>},
    {Opcode::kLogPlusOne, FloatFunction<EmitLog1p>},
    {Opcode::kLogistic, FloatFunction<EmitLogistic>},
    {Opcode::kMaximum, Maximum},
    {Opcode::kMinimum, Minimum},
    {Opcode::kMulhi, Mulhi},
    {Opcode::kMultiply, Multiply},
    {Opcode::kNegate, Negate},
    {Opcode::kNot, Not},
    {Opcode::kOr, Or},
    {Opcode::kPopcnt, Popcnt},
    {Opcode::kPower, Power},
    {Opcode::kReal, Real},
    {Opcode::kReducePrecision, ReducePrecision},
    {Opcode::kRemainder, Remainder},
    {Opcode::kRoundNearestAfz, FloatIntrinsic<llvm::Intrinsic::round>},
    {Opcode::kRoundNearestEven, FloatIntrinsic<llvm::Intrinsic::roundeven>},
    {Opcode::kRsqrt, FloatFunction<EmitRsqrt>},
    {Opcode::kSelect, Select},
    {Opcode::kShiftLeft, Shift<llvm::Instruction::Shl>},
    {Opcode::kShiftRightArithmetic, Shift<llvm::Instruction::AShr>},
    {Opcode::kShiftRightLogical, Shift<llvm::Instruction::LShr>},
    {Opcode::kSign, Sign},
    {Opcode::kSine, FloatFunction<EmitSine>},
    {Opcode::kSinh, Libm<"sinh">},
    {Opcode::kSqrt, FloatIntrinsic<llvm::Intrinsic::sqrt>},
    {Opcode::kStochasticConvert, StochasticConvert},
    {Opcode::kSubtract, Subtract},
    {Opcode::kTan, FloatFunction<EmitTan>},
    {Opcode::kTanh, FloatFunction<EmitTanh>},
    {Opcode::kXor, Xor},
};

}  // namespace

Value* EmitTotalOrderKey(ValueBuilder& builder, ElementType type, Value* operand) {
  llvm::IRBuilder<>& ir = builder.ir();
  Value* bits = builder.ToBits(type, operand);
  llvm::Type* t = bits->getType();
  const FloatFormat& format = Format(type);
  const uint64_t top = uint64_t{1} << (BitWidth(type) - 1);
  if (format.special == SpecialValues::kExponent) {
    return ir.CreateXor(bits, builder.Int(t, top));  // codes without a sign
  }
  if (!format.HasNegativeZero()) {
    // The one NaN has the code of -0, and is less than all numbers.
    Value* negated = ir.CreateNeg(ir.CreateAnd(bits, builder.Int(t, top - 1)));
    Value* is_nan = ir.CreateICmpEQ(bits, builder.Int(t, top));
    Value* number = ir.CreateSelect(ir.CreateICmpSLT(bits, builder.Int(t, 0)), negated, bits);
    return ir.CreateSelect(is_nan, bits, number);
  }
  Value* negative = ir.CreateAShr(bits, builder.Int(t, BitWidth(type) - 1));
  return ir.CreateXor(bits, ir.CreateLShr(negative, builder.Int(t, 1)));
}

Value* EmitAdd(ValueBuilder& builder, ElementType type, Value* x, Value* y) {
  if (IsPred(type)) return builder.ir().CreateOr(x, y);
  if (IsComplex(type)) return EmitComplexAdd(builder, x, y);
  if (!IsFloat(type)) return builder.ir().CreateAdd(x, y);
  return InArithmetic(builder, type, {x, y},
                      [&](ArrayRef<Value*> w) { return builder.ir().CreateFAdd(w[0], w[1]); });
}

Value* EmitMultiply(ValueBuilder& builder, ElementType type, Value* x, Value* y) {
  if (IsPred(type)) return builder.ir().CreateAnd(x, y);
  if (IsComplex(type)) return EmitComplexMultiply(builder, x, y);
  if (!IsFloat(type)) return builder.ir().CreateMul(x, y);
  return InArithmetic(builder, type, {x, y},
                      [&](ArrayRef<Value*> w) { return builder.ir().CreateFMul(w[0], w[1]); });
}

Value* EmitMaximum(ValueBuilder& builder, ElementType type, Value* x, Value* y) {
  if (IsPred(type)) return builder.ir().CreateOr(x, y);
  if (!IsFloat(type)) {
    auto id = IsSigned(type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
    return builder.ir().CreateBinaryIntrinsic(id, x, y);
  }
  return InArithmetic(builder, type, {x, y}, [&](ArrayRef<Value*> w) {
    return builder.ir().CreateBinaryIntrinsic(llvm::Intrinsic::maximum, w[0], w[1]);
  });
}

Value* EmitMinimum(ValueBuilder& builder, ElementType type, Value* x, Value* y) {
  if (IsPred(type)) return builder.ir().CreateAnd(x, y);
  if (!IsFloat(type)) {
    auto id = IsSigned(type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
    return builder.ir().CreateBinaryIntrinsic(id, x, y);
  }
  return InArithmetic(builder, type, {x, y}, [&](ArrayRef<Value*> w) {
    return builder.ir().CreateBinaryIntrinsic(llvm::Intrinsic::minimum, w[0], w[1]);
  });
}

ElementwiseFn FindElementwise(Opcode opcode) {
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return row.emit;
  }
  return nullptr;
}

}  // namespace assay
