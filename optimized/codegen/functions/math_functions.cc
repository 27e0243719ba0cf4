// Gives each function its formula, and one function of the module for all that use it.
#include "optimized/codegen/functions/math_functions.h"

#include <array>
#include <functional>
#include <string>

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "optimized/codegen/functions/double_functions.h"
#include "optimized/codegen/functions/float_functions.h"

namespace assay {

using llvm::Value;

namespace {

bool IsDouble(Value* x) { return x->getType()->getScalarType()->isDoubleTy(); }

Value* ToDouble(ValueBuilder& builder, Value* x) {
  if (IsDouble(x)) return x;
  return builder.ir().CreateFPExt(
      x, ValueBuilder::WithWidth(builder.ir().getDoubleTy(), ValueBuilder::WidthOf(x)));
}

Value* ToFloat(ValueBuilder& builder, Value* x) {
  return builder.ir().CreateFPTrunc(
      x, ValueBuilder::WithWidth(builder.ir().getFloatTy(), ValueBuilder::WidthOf(x)));
}

// coefficients[0] + x * (coefficients[1] + ...)
Value* Polynomial(ValueBuilder& builder, Value* x, llvm::ArrayRef<double> coefficients) {
  Value* sum = builder.Float(x->getType(), coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back())) {
    sum = builder.ir().CreateFAdd(builder.ir().CreateFMul(sum, x), builder.Float(x->getType(), c));
  }
  return sum;
}

// exp of a double, good to about 2^-48 relative: enough for any float result. Arguments beyond
// +-300 are taken as +-300, which every narrower type rounds to the same infinity or zero.
Value* ExpDouble(ValueBuilder& builder, Value* x) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* f64 = x->getType();
  llvm::Type* i64 = ValueBuilder::WithWidth(ir.getInt64Ty(), ValueBuilder::WidthOf(x));
  // Written so that NaN, which fails both comparisons, passes through.
  x = ir.CreateSelect(ir.CreateFCmpOGT(x, builder.Float(f64, 300)), builder.Float(f64, 300), x);
  x = ir.CreateSelect(ir.CreateFCmpOLT(x, builder.Float(f64, -300)), builder.Float(f64, -300), x);
  // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
  const double shift = 6755399441055744.0;
  Value* shifted = ir.CreateFAdd(ir.CreateFMul(x, builder.Float(f64, 1.4426950408889634)),
                                 builder.Float(f64, shift));
  Value* k = ir.CreateFSub(shifted, builder.Float(f64, shift));
  Value* r = ir.CreateFSub(x, ir.CreateFMul(k, builder.Float(f64, 6.93147180369123816490e-01)));
  r = ir.CreateFSub(r, ir.CreateFMul(k, builder.Float(f64, 1.90821492927058770002e-10)));
  std::array<double, 12> taylor;
  double factorial = 1;
  for (int i = 0; i < 12; ++i) {
    factorial *= i == 0 ? 1 : i;
    taylor[i] = 1 / factorial;
  }
  Value* p = Polynomial(builder, r, taylor);
  Value* exponent = ir.CreateBitCast(shifted, i64);
  exponent = ir.CreateShl(ir.CreateAdd(exponent, builder.Int(i64, 1023)), builder.Int(i64, 52));
  return ir.CreateFMul(p, ir.CreateBitCast(exponent, f64));
}

// log of a double that is zero, negative, infinite, NaN or at least 2^-1022 in magnitude (every
// float is).
Value* LogDouble(ValueBuilder& builder, Value* x) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* f64 = x->getType();
  llvm::Type* i64 = ValueBuilder::WithWidth(ir.getInt64Ty(), ValueBuilder::WidthOf(x));
  Value* bits = ir.CreateBitCast(x, i64);
  // Split at sqrt(1/2) so that the logarithm of the significand keeps its relative accuracy near 1.
  Value* offset = ir.CreateSub(bits, builder.Int(i64, 0x3FE6A09E667F3BCDull));
  Value* e = ir.CreateAShr(offset, builder.Int(i64, 52));
  Value* m = ir.CreateBitCast(ir.CreateSub(bits, ir.CreateShl(e, builder.Int(i64, 52))), f64);
  Value* s = ir.CreateFDiv(ir.CreateFSub(m, builder.Float(f64, 1)),
                           ir.CreateFAdd(m, builder.Float(f64, 1)));
  Value* s2 = ir.CreateFMul(s, s);
  std::array<double, 11> series;
  for (int i = 0; i < 11; ++i) series[i] = 2.0 / (2 * i + 1);
  Value* log_m = ir.CreateFMul(s, Polynomial(builder, s2, series));
  // The exponent is small: through 32 bits the conversion needs no wide integer instruction.
  llvm::Type* i32 = ValueBuilder::WithWidth(ir.getInt32Ty(), ValueBuilder::WidthOf(x));
  Value* e_float = ir.CreateSIToFP(ir.CreateTrunc(e, i32), f64);
  Value* result =
      ir.CreateFAdd(ir.CreateFMul(e_float, builder.Float(f64, 0.69314718055994530942)), log_m);
  const double infinity = std::numeric_limits<double>::infinity();
  Value* zero = builder.Float(f64, 0);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, zero), builder.Float(f64, -infinity), result);
  result = ir.CreateSelect(ir.CreateFCmpULT(x, zero),
                           builder.Float(f64, std::numeric_limits<double>::quiet_NaN()), result);
  return ir.CreateSelect(ir.CreateFCmpOEQ(x, builder.Float(f64, infinity)), x, result);
}

}  // namespace

Value* CallPerLane(ValueBuilder& builder, const char* function, llvm::Type* result,
                   llvm::ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& ir = builder.ir();
  int width = ValueBuilder::WidthOf(arguments[0]);
  std::vector<llvm::Type*> types;
  for (Value* a : arguments) types.push_back(a->getType()->getScalarType());
  llvm::Module* module = ir.GetInsertBlock()->getModule();
  // A name of our own: LLVM knows those of the C library and rewrites calls of them as it sees fit.
  llvm::FunctionCallee callee = module->getOrInsertFunction(
      std::string("assay_") + function, llvm::FunctionType::get(result, types, false));
  if (auto* f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    f->setDoesNotThrow();
    f->setDoesNotAccessMemory();
  }
  if (width == 1) return ir.CreateCall(callee, arguments);
  Value* out = llvm::PoisonValue::get(ValueBuilder::WithWidth(result, width));
  for (int lane = 0; lane < width; ++lane) {
    std::vector<Value*> scalars;
    for (Value* a : arguments) scalars.push_back(ir.CreateExtractElement(a, lane));
    out = ir.CreateInsertElement(out, ir.CreateCall(callee, scalars), lane);
  }
  return out;
}

Value* EmitLibm(ValueBuilder& builder, const char* function, llvm::ArrayRef<Value*> arguments) {
  bool narrow = !IsDouble(arguments[0]);
  std::vector<Value*> wide;
  for (Value* a : arguments) wide.push_back(ToDouble(builder, a));
  Value* result = CallPerLane(builder, function, builder.ir().getDoubleTy(), wide);
  return narrow ? ToFloat(builder, result) : result;
}

namespace {

using Formula = std::function<Value*(llvm::ArrayRef<Value*> arguments)>;

// A call of a function of the module that has `formula` as its body: the code of a function stands
// once however often it is used. Where that is rare, Jit puts it in its place.
Value* Shared(ValueBuilder& builder, const char* name, llvm::ArrayRef<Value*> arguments,
              const Formula& formula) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* type = arguments[0]->getType();
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  const std::string full = kSharedFunctionPrefix + std::string(name) +
                           (IsDouble(arguments[0]) ? ".f64." : ".f32.") +
                           std::to_string(ValueBuilder::WidthOf(arguments[0])) +
                           (builder.bends().planted != nullptr ? ".planted" : "") +
                           (builder.calls_functions() ? ".called" : "");
  llvm::Function* function = module.getFunction(full);
  if (function == nullptr) {
    const llvm::SmallVector<llvm::Type*, 2> types(arguments.size(), type);
    function = llvm::Function::Create(llvm::FunctionType::get(type, types, false),
                                      llvm::Function::InternalLinkage, full, module);
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    const llvm::IRBuilderBase::InsertPointGuard back(ir);
    ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "entry", function));
    llvm::SmallVector<Value*, 2> parameters;
    for (llvm::Argument& parameter : function->args()) parameters.push_back(&parameter);
    ir.CreateRet(formula(parameters));
  }
  return ir.CreateCall(function, arguments);
}

using Function32 = Value* (*)(ValueBuilder&, Value*);

Value* Unary(ValueBuilder& builder, const char* name, Value* x, Function32 of_f32) {
  return Shared(builder, name, {x}, [&](llvm::ArrayRef<Value*> at) {
    return IsDouble(x) ? EmitDoubleFunction(builder, name, at) : of_f32(builder, at[0]);
  });
}

}  // namespace

Value* EmitExp(ValueBuilder& builder, Value* x) { return Unary(builder, "exp", x, EmitExpF32); }
Value* EmitLog(ValueBuilder& builder, Value* x) { return Unary(builder, "log", x, EmitLogF32); }
Value* EmitTanh(ValueBuilder& builder, Value* x) { return Unary(builder, "tanh", x, EmitTanhF32); }
Value* EmitSine(ValueBuilder& builder, Value* x) { return Unary(builder, "sin", x, EmitSineF32); }
Value* EmitCosine(ValueBuilder& builder, Value* x) {
  return Unary(builder, "cos", x, EmitCosineF32);
}
Value* EmitErf(ValueBuilder& builder, Value* x) { return Unary(builder, "erf", x, EmitErfF32); }
Value* EmitLog1p(ValueBuilder& builder, Value* x) {
  return Unary(builder, "log1p", x, EmitLog1pF32);
}
Value* EmitExpm1(ValueBuilder& builder, Value* x) {
  return Unary(builder, "expm1", x, EmitExpm1F32);
}
Value* EmitLogistic(ValueBuilder& builder, Value* x) {
  return Unary(builder, "logistic", x, EmitLogisticF32);
}
Value* EmitTan(ValueBuilder& builder, Value* x) {
  return IsDouble(x) ? Unary(builder, "tan", x, nullptr) : EmitLibm(builder, "tan", {x});
}
Value* EmitCbrt(ValueBuilder& builder, Value* x) {
  return IsDouble(x) ? Unary(builder, "cbrt", x, nullptr) : EmitLibm(builder, "cbrt", {x});
}

Value* EmitRsqrt(ValueBuilder& builder, Value* x) {
  Value* root = builder.ir().CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
  return builder.ir().CreateFDiv(builder.Float(x->getType(), 1), root);
}

namespace {
// For f32, through doubles.
Value* PowerF32(ValueBuilder& builder, Value* x, Value* y) {
  llvm::IRBuilder<>& ir = builder.ir();
  Value* dx = ToDouble(builder, x);
  Value* dy = ToDouble(builder, y);
  llvm::Type* f64 = dx->getType();
  llvm::Type* i64 = ValueBuilder::WithWidth(ir.getInt64Ty(), ValueBuilder::WidthOf(x));
  Value* zero = builder.Float(f64, 0);
  Value* one = builder.Float(f64, 1);
  Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, dx);
  Value* result = ExpDouble(builder, ir.CreateFMul(dy, LogDouble(builder, magnitude)));
  // |x| = 1 gives 0 * inf for infinite y.
  Value* unit = ir.CreateAnd(ir.CreateFCmpOEQ(magnitude, one), ir.CreateFCmpORD(dy, dy));
  result = ir.CreateSelect(unit, one, result);
  auto is_integer = [&](Value* v) {
    return ir.CreateFCmpOEQ(ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, v), v);
  };
  Value* whole = is_integer(dy);
  Value* odd =
      ir.CreateAnd(whole, ir.CreateNot(is_integer(ir.CreateFMul(dy, builder.Float(f64, 0.5)))));
  Value* sign_bit = ir.CreateICmpSLT(ir.CreateBitCast(dx, i64), builder.Int(i64, 0));
  result = ir.CreateSelect(ir.CreateAnd(sign_bit, odd), ir.CreateFNeg(result), result);
  const double infinity = std::numeric_limits<double>::infinity();
  Value* finite_negative =
      ir.CreateAnd(ir.CreateFCmpOLT(dx, zero), ir.CreateFCmpOGT(dx, builder.Float(f64, -infinity)));
  Value* no_value = ir.CreateAnd(finite_negative, ir.CreateNot(whole));
  result = ir.CreateSelect(no_value, builder.Float(f64, std::numeric_limits<double>::quiet_NaN()),
                           result);
  Value* always_one = ir.CreateOr(ir.CreateFCmpOEQ(dy, zero), ir.CreateFCmpOEQ(dx, one));
  return ToFloat(builder, ir.CreateSelect(always_one, one, result));
}
}  // namespace

Value* EmitAtan2(ValueBuilder& builder, Value* y, Value* x) {
  if (!IsDouble(x)) return EmitLibm(builder, "atan2", {y, x});
  return Shared(builder, "atan2", {y, x}, [&](llvm::ArrayRef<Value*> at) {
    return EmitDoubleFunction(builder, "atan2", at);
  });
}

Value* EmitPower(ValueBuilder& builder, Value* x, Value* y) {
  return Shared(builder, "pow", {x, y}, [&](llvm::ArrayRef<Value*> at) {
    return IsDouble(x) ? EmitDoubleFunction(builder, "pow", at) : PowerF32(builder, at[0], at[1]);
  });
}

}  // namespace assay
