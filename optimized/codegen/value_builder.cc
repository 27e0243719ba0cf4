// Conversions between HLO types and the types of registers and memory.
#include "optimized/codegen/value_builder.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "optimized/codegen/functions/math_functions.h"
#include "spec/base/strings.h"
#include "spec/types/float_format.h"

namespace assay {

using llvm::Value;

namespace {
bool IsNarrowFloat(ElementType type) { return IsFloat(type) && BitWidth(type) < 32; }
// Floats of at most eight bits: a table widens them.
bool IsTinyFloat(ElementType type) { return IsFloat(type) && BitWidth(type) <= 8; }

// The values of all codes of a tiny float, as a constant of the module.
llvm::GlobalVariable* ValuesOf(llvm::Module& module, ElementType type) {
  const std::string name = StrCat("values_of_", Name(type));
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  std::vector<float> values(size_t{1} << BitWidth(type));
  for (size_t code = 0; code < values.size(); ++code) {
    values[code] = static_cast<float>(DecodeFloat(Format(type), code));
  }
  llvm::Constant* array = llvm::ConstantDataArray::get(module.getContext(), values);
  return new llvm::GlobalVariable(module, array->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::PrivateLinkage, array, name);
}
}  // namespace

bool ValueBuilder::Supports(ElementType type) {
  return IsPred(type) || IsInteger(type) || IsFloat(type) || IsComplex(type);
}

llvm::Type* ValueBuilder::WithWidth(llvm::Type* scalar, int width) {
  return width == 1 ? scalar : llvm::FixedVectorType::get(scalar, width);
}

int ValueBuilder::WidthOf(Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

llvm::Type* ValueBuilder::RegisterType(ElementType type, int width) {
  llvm::Type* scalar = nullptr;
  if (IsComplex(type)) {  // never a vector: vector_width
    llvm::Type* part = RegisterType(ComponentType(type));
    return llvm::StructType::get(context(), {part, part});
  }
  switch (type) {
    case ElementType::kPred:
      scalar = ir_.getInt1Ty();
      break;
    case ElementType::kF32:
      scalar = ir_.getFloatTy();
      break;
    case ElementType::kF64:
      scalar = ir_.getDoubleTy();
      break;
    default:
      scalar = ir_.getIntNTy(BitWidth(type));
      break;
  }
  return WithWidth(scalar, width);
}

llvm::Type* ValueBuilder::StorageType(ElementType type, int width) {
  if (BitWidth(type) < 8) return WithWidth(ir_.getInt8Ty(), width);
  return RegisterType(type, width);
}

llvm::Type* ValueBuilder::ArithmeticType(ElementType type, int width) {
  if (IsNarrowFloat(type)) return WithWidth(ir_.getFloatTy(), width);
  return RegisterType(type, width);
}

Value* ValueBuilder::Load(ElementType type, Value* pointer, int width) {
  Value* value =
      ir_.CreateAlignedLoad(StorageType(type, width), pointer, llvm::Align(StorageBytes(type)));
  if (IsPred(type)) return ir_.CreateICmpNE(value, Int(value->getType(), 0));
  if (BitWidth(type) < 8) return ir_.CreateTrunc(value, RegisterType(type, width));
  return value;
}

void ValueBuilder::Store(ElementType type, Value* value, Value* pointer) {
  if (BitWidth(type) < 8) {
    value = ir_.CreateIntCast(value, StorageType(type, WidthOf(value)), IsSigned(type));
  }
  ir_.CreateAlignedStore(value, pointer, llvm::Align(StorageBytes(type)));
}

llvm::Constant* ValueBuilder::ConstantElement(const Literal& literal, int64_t i) {
  ElementType type = literal.element_type();
  if (IsComplex(type)) {
    llvm::Type* part = RegisterType(ComponentType(type));
    auto constant = [&](int64_t k) -> llvm::Constant* {
      const bool is_float = part->isFloatTy();
      return llvm::ConstantFP::get(
          context(),
          llvm::APFloat(is_float ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble(),
                        llvm::APInt(is_float ? 32 : 64, literal.GetComponentBits(k))));
    };
    return llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(RegisterType(type)),
                                     {constant(2 * i), constant(2 * i + 1)});
  }
  uint64_t bits = literal.GetBits(i);
  switch (type) {
    case ElementType::kPred:
      return ir_.getInt1(bits != 0);
    case ElementType::kF32:
      return llvm::ConstantFP::get(
          context(), llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits)));
    case ElementType::kF64:
      return llvm::ConstantFP::get(
          context(), llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
    default: {
      int width = BitWidth(type);
      uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
      return ir_.getIntN(width, bits & mask);
    }
  }
}

llvm::Constant* ValueBuilder::Int(llvm::Type* like, uint64_t value) {
  unsigned bits = like->getScalarSizeInBits();
  llvm::APInt wrapped = llvm::APInt(64, value).zextOrTrunc(bits);
  return llvm::ConstantInt::get(like, wrapped);
}

llvm::Constant* ValueBuilder::Float(llvm::Type* like, double value) {
  return llvm::ConstantFP::get(like, value);
}

Value* ValueBuilder::Splat(Value* scalar, int width) {
  if (width == 1 || WidthOf(scalar) == width) return scalar;
  return ir_.CreateVectorSplat(width, scalar);
}

Value* ValueBuilder::Widen(ElementType type, Value* value) {
  int width = WidthOf(value);
  if (type == ElementType::kF16) {
    Value* half = ir_.CreateBitCast(value, WithWidth(ir_.getHalfTy(), width));
    return ir_.CreateFPExt(half, WithWidth(ir_.getFloatTy(), width));
  }
  if (type == ElementType::kBF16) {
    Value* wide = ir_.CreateZExt(value, WithWidth(ir_.getInt32Ty(), width));
    wide = ir_.CreateShl(wide, Int(wide->getType(), 16));
    return ir_.CreateBitCast(wide, WithWidth(ir_.getFloatTy(), width));
  }
  if (IsTinyFloat(type)) {
    llvm::GlobalVariable* values = ValuesOf(*ir_.GetInsertBlock()->getModule(), type);
    return PerLane(value, ir_.getFloatTy(), [&](Value* code) -> Value* {
      Value* at = ir_.CreateGEP(ir_.getFloatTy(), values, ir_.CreateZExt(code, ir_.getInt64Ty()));
      return ir_.CreateLoad(ir_.getFloatTy(), at);
    });
  }
  return value;
}

Value* ValueBuilder::PerLane(Value* value, llvm::Type* result,
                             const std::function<Value*(Value*)>& of_lane) {
  const int width = WidthOf(value);
  if (width == 1) return of_lane(value);
  Value* out = llvm::PoisonValue::get(WithWidth(result, width));
  for (int lane = 0; lane < width; ++lane) {
    out = ir_.CreateInsertElement(out, of_lane(ir_.CreateExtractElement(value, lane)), lane);
  }
  return out;
}

Value* ValueBuilder::Narrow(ElementType type, Value* value) {
  int width = WidthOf(value);
  if (IsTinyFloat(type)) {
    Value* which = Int(WithWidth(ir_.getInt32Ty(), width), static_cast<uint64_t>(type));
    Value* code = CallPerLane(*this, "encode_tiny_float", ir_.getInt8Ty(), {value, which});
    return ir_.CreateTrunc(code, RegisterType(type, width));
  }
  if (type == ElementType::kF16) {
    Value* half = ir_.CreateFPTrunc(value, WithWidth(ir_.getHalfTy(), width));
    return ir_.CreateBitCast(half, RegisterType(type, width));
  }
  if (type == ElementType::kBF16) {
    // Integer rounding: the bf16 conversion instructions flush subnormals.
    llvm::Type* i32 = WithWidth(ir_.getInt32Ty(), width);
    Value* bits = ir_.CreateBitCast(value, i32);
    Value* odd = ir_.CreateAnd(ir_.CreateLShr(bits, Int(i32, 16)), Int(i32, 1));
    Value* rounded = ir_.CreateAdd(bits, ir_.CreateAdd(odd, Int(i32, 0x7FFF)));
    Value* quiet = ir_.CreateOr(bits, Int(i32, 0x00400000));
    Value* is_nan = ir_.CreateFCmpUNO(value, value);
    Value* kept = ir_.CreateSelect(is_nan, quiet, rounded);
    return ir_.CreateTrunc(ir_.CreateLShr(kept, Int(i32, 16)), RegisterType(type, width));
  }
  return value;
}

// In f64 the product of two f32 is exact, and a sum that is rounded to odd keeps, when it is
// rounded once more, what rounding once gives.
Value* ValueBuilder::MultiplyAdd(Value* x, Value* y, Value* z) {
  llvm::Type* type = x->getType();
  if (use_fma_ || !type->getScalarType()->isFloatTy()) {
    return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, z});
  }
  const int width = WidthOf(x);
  llvm::Type* wide = WithWidth(ir_.getDoubleTy(), width);
  llvm::Type* bits = WithWidth(ir_.getInt64Ty(), width);
  Value* product = ir_.CreateFMul(ir_.CreateFPExt(x, wide), ir_.CreateFPExt(y, wide));
  Value* addend = ir_.CreateFPExt(z, wide);
  Value* sum = ir_.CreateFAdd(product, addend);
  Value* added = ir_.CreateFSub(sum, product);
  Value* error = ir_.CreateFAdd(ir_.CreateFSub(product, ir_.CreateFSub(sum, added)),
                                ir_.CreateFSub(addend, added));
  Value* zero = llvm::Constant::getNullValue(wide);
  Value* code = ir_.CreateBitCast(sum, bits);
  Value* is_even = ir_.CreateICmpEQ(ir_.CreateAnd(code, Int(bits, 1)), Int(bits, 0));
  // Ordered: false where the sum is infinite or NaN.
  Value* moves = ir_.CreateAnd(ir_.CreateFCmpONE(error, zero), is_even);
  Value* outward = ir_.CreateICmpEQ(ir_.CreateFCmpOGT(error, zero), ir_.CreateFCmpOGT(sum, zero));
  Value* step = ir_.CreateSelect(outward, Int(bits, 1), Int(bits, ~uint64_t{0}));
  Value* odd = ir_.CreateSelect(moves, ir_.CreateAdd(code, step), code);
  return ir_.CreateFPTrunc(ir_.CreateBitCast(odd, wide), type);
}

Value* ValueBuilder::RoundToOdd(Value* wide) {
  int width = WidthOf(wide);
  llvm::Type* f32 = WithWidth(ir_.getFloatTy(), width);
  llvm::Type* i32 = WithWidth(ir_.getInt32Ty(), width);
  Value* nearest = ir_.CreateFPTrunc(wide, f32);
  Value* back = ir_.CreateFPExt(nearest, wide->getType());
  Value* inexact = ir_.CreateFCmpONE(back, wide);  // false for NaN
  Value* too_big = ir_.CreateFCmpOGT(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                     ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide));
  Value* bits = ir_.CreateBitCast(nearest, i32);
  bits = ir_.CreateSub(bits, ir_.CreateZExt(too_big, i32));
  bits = ir_.CreateOr(bits, ir_.CreateZExt(inexact, i32));
  return ir_.CreateBitCast(bits, f32);
}

Value* ValueBuilder::IntegerToNarrow(ElementType from, ElementType to, Value* value) {
  int width = WidthOf(value);
  llvm::Type* f64 = WithWidth(ir_.getDoubleTy(), width);
  bool is_signed = IsSigned(from);
  auto to_double = [&](Value* v, bool sign) {
    return sign ? ir_.CreateSIToFP(v, f64) : ir_.CreateUIToFP(v, f64);
  };
  if (BitWidth(from) < 64) return Narrow(to, RoundToOdd(to_double(value, is_signed)));
  // 64 bits do not fit a double: fold the low 16 of a large magnitude into one sticky bit, far
  // below the result's last place.
  llvm::Type* i64 = value->getType();
  Value* magnitude =
      is_signed ? ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, ir_.getFalse()) : value;
  Value* large = ir_.CreateICmpUGE(magnitude, Int(i64, uint64_t{1} << 40));
  Value* low = ir_.CreateAnd(magnitude, Int(i64, 0xFFFF));
  Value* sticky = ir_.CreateZExt(ir_.CreateICmpNE(low, Int(i64, 0)), i64);
  Value* high = ir_.CreateOr(ir_.CreateLShr(magnitude, Int(i64, 16)), sticky);
  Value* scaled = ir_.CreateFMul(to_double(high, true), Float(f64, 65536.0));
  Value* small = to_double(ir_.CreateSelect(large, Int(i64, 0), magnitude), true);
  Value* exact = ir_.CreateSelect(large, scaled, small);
  if (is_signed) {
    Value* negative = ir_.CreateICmpSLT(value, Int(i64, 0));
    exact = ir_.CreateSelect(negative, ir_.CreateFNeg(exact), exact);
  }
  return Narrow(to, RoundToOdd(exact));
}

Value* ValueBuilder::Convert(ElementType from, ElementType to, Value* value) {
  if (from == to) return value;
  if (IsComplex(from) || IsComplex(to)) return ConvertComplex(from, to, value);
  int width = WidthOf(value);
  llvm::Type* target = RegisterType(to, width);
  if (IsPred(to)) {
    if (!IsFloat(from)) return ir_.CreateICmpNE(value, Int(value->getType(), 0));
    Value* wide = Widen(from, value);
    return ir_.CreateFCmpUNE(wide, Float(wide->getType(), 0));
  }
  if (IsInteger(to)) {
    if (IsPred(from)) return ir_.CreateZExt(value, target);
    if (IsInteger(from)) return ir_.CreateIntCast(value, target, IsSigned(from));
    Value* wide = Widen(from, value);
    auto id = IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return ir_.CreateIntrinsic(id, {target, wide->getType()}, {wide});
  }
  llvm::Type* arithmetic = ArithmeticType(to, width);
  if (IsPred(from)) return Narrow(to, ir_.CreateUIToFP(value, arithmetic));
  if (IsInteger(from)) {
    if (IsNarrowFloat(to)) return IntegerToNarrow(from, to, value);
    return IsSigned(from) ? ir_.CreateSIToFP(value, target) : ir_.CreateUIToFP(value, target);
  }
  Value* wide = Widen(from, value);
  if (to == ElementType::kF64) return ir_.CreateFPExt(wide, target);
  if (from == ElementType::kF64) {
    return to == ElementType::kF32 ? ir_.CreateFPTrunc(wide, target) : Narrow(to, RoundToOdd(wide));
  }
  return Narrow(to, wide);
}

// Part by part; a real number has the imaginary part +0, and of a complex one the real part is
// converted.
Value* ValueBuilder::ConvertComplex(ElementType from, ElementType to, Value* value) {
  Value* re = IsComplex(from) ? ir_.CreateExtractValue(value, 0) : value;
  re = Convert(ComponentType(from), ComponentType(to), re);
  if (!IsComplex(to)) return re;
  Value* im = llvm::Constant::getNullValue(RegisterType(ComponentType(to)));
  if (IsComplex(from)) {
    im = Convert(ComponentType(from), ComponentType(to), ir_.CreateExtractValue(value, 1));
  }
  Value* pair = ir_.CreateInsertValue(llvm::PoisonValue::get(RegisterType(to)), re, 0);
  return ir_.CreateInsertValue(pair, im, 1);
}

Value* ValueBuilder::ToBits(ElementType type, Value* value) {
  if (!IsFloat(type)) return value;
  return ir_.CreateBitCast(value, WithWidth(ir_.getIntNTy(BitWidth(type)), WidthOf(value)));
}

Value* ValueBuilder::FromBits(ElementType type, Value* bits) {
  if (!IsFloat(type)) return bits;
  return ir_.CreateBitCast(bits, RegisterType(type, WidthOf(bits)));
}

}  // namespace assay
