// Complex arithmetic from the real and imaginary parts.
#include "optimized/codegen/functions/complex.h"

#include <array>
#include <string>

#include "absl/algorithm/container.h"
#include "optimized/codegen/functions/math_functions.h"

namespace assay {

using llvm::ArrayRef;
using llvm::Value;

namespace {

// The parts of a complex value; a real one has none but itself.
Value* Re(ValueBuilder& builder, Value* number) {
  return builder.ir().CreateExtractValue(number, 0);
}
Value* Im(ValueBuilder& builder, Value* number) {
  return builder.ir().CreateExtractValue(number, 1);
}

Value* Pair(ValueBuilder& builder, Value* re, Value* im) {
  Value* pair = llvm::PoisonValue::get(
      llvm::StructType::get(builder.context(), {re->getType(), im->getType()}));
  return builder.ir().CreateInsertValue(builder.ir().CreateInsertValue(pair, re, 0), im, 1);
}

Value* Add(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return EmitComplexAdd(builder, v[0], v[1]);
}
Value* Subtract(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return Pair(builder, builder.ir().CreateFSub(Re(builder, v[0]), Re(builder, v[1])),
              builder.ir().CreateFSub(Im(builder, v[0]), Im(builder, v[1])));
}
Value* Multiply(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return EmitComplexMultiply(builder, v[0], v[1]);
}
Value* Negate(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return Pair(builder, builder.ir().CreateFNeg(Re(builder, v[0])),
              builder.ir().CreateFNeg(Im(builder, v[0])));
}

// Equal if both parts are.
Value* Compare(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = builder.ir();
  Value* equal = ir.CreateAnd(ir.CreateFCmpOEQ(Re(builder, v[0]), Re(builder, v[1])),
                              ir.CreateFCmpOEQ(Im(builder, v[0]), Im(builder, v[1])));
  const auto written = static_cast<Direction>(instruction.attributes().Integer(Attr::kDirection));
  return builder.bends().Bent(written) == Direction::kEq ? equal : ir.CreateNot(equal);
}

Value* Select(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return builder.ir().CreateSelect(v[0], v[1], v[2]);
}
Value* Convert(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  return builder.Convert(instruction.operand(0)->shape().element_type(),
                         instruction.shape().element_type(), v[0]);
}
Value* Real(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return Re(builder, v[0]);
}
Value* Imag(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return Im(builder, v[0]);
}
Value* Complex(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return Pair(builder, v[0], v[1]);
}

// A function of the runtime, which takes and gives doubles and computes in a wider format than the
// values have (runtime/functions/complex_formulas.h).
Value* Call(ValueBuilder& builder, const char* function, ArrayRef<Value*> operands,
            bool complex_result) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* f64 = ir.getDoubleTy();
  llvm::Type* part = Re(builder, operands[0])->getType();
  std::vector<Value*> arguments;
  for (Value* z : operands) {
    for (Value* x : {Re(builder, z), Im(builder, z)}) arguments.push_back(ir.CreateFPCast(x, f64));
  }
  llvm::Type* result =
      complex_result
          ? static_cast<llvm::Type*>(llvm::StructType::get(builder.context(), {f64, f64}))
          : f64;
  const std::string name = std::string("complex_") + function + (part == f64 ? "_c128" : "_c64");
  Value* value = CallPerLane(builder, name.c_str(), result, arguments);
  if (!complex_result) return ir.CreateFPCast(value, part);
  return Pair(builder, ir.CreateFPCast(Re(builder, value), part),
              ir.CreateFPCast(Im(builder, value), part));
}

Value* Abs(ValueBuilder& builder, const Instruction&, ArrayRef<Value*> v) {
  return Call(builder, "abs", v, false);
}

// The name of the runtime's function is that of the op.
Value* Function(ValueBuilder& builder, const Instruction& instruction, ArrayRef<Value*> v) {
  std::string name(Name(instruction.opcode()));
  absl::c_replace(name, '-', '_');
  return Call(builder, name.c_str(), v, true);
}

struct Row {
  Opcode opcode;
  ElementwiseFn emit;
};

constexpr Row kRows[] = {
    {Opcode::kAbs, Abs},
    {Opcode::kAcos, Function},
    {Opcode::kAcosh, Function},
    {Opcode::kAdd, Add},
    {Opcode::kAsin, Function},
    {Opcode::kAsinh, Function},
    {Opcode::kAtan2, Function},
    {Opcode::kAtanh, Function},
    {Opcode::kCbrt, Function},
    {Opcode::kCompare, Compare},
    {Opcode::kComplex, Complex},
    {Opcode::kConvert, Convert},
    {Opcode::kCosh, Function},
    {Opcode::kCosine, Function},
    {Opcode::kDivide, Function},
    {Opcode::kExponential, Function},
    {Opcode::kExponentialMinusOne, Function},
    {Opcode::kImag, Imag},
    {Opcode::kLog, Function},
    {Opcode::kLogPlusOne, Function},
    {Opcode::kLogistic, Function},
    {Opcode::kMultiply, Multiply},
    {Opcode::kNegate, Negate},
    {Opcode::kPower, Function},
    {Opcode::kReal, Real},
    {Opcode::kRsqrt, Function},
    {Opcode::kSelect, Select},
    {Opcode::kSign, Function},
    {Opcode::kSine, Function},
    {Opcode::kSinh, Function},
    {Opcode::kSqrt, Function},
    {Opcode::kSubtract, Subtract},
    {Opcode::kTan, Function},
    {Opcode::kTanh, Function},
};

}  // namespace

ElementwiseFn FindComplexElementwise(Opcode opcode) {
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return row.emit;
  }
  return nullptr;
}

Value* EmitComplexAdd(ValueBuilder& builder, Value* x, Value* y) {
  return Pair(builder, builder.ir().CreateFAdd(Re(builder, x), Re(builder, y)),
              builder.ir().CreateFAdd(Im(builder, x), Im(builder, y)));
}

Value* EmitComplexMultiply(ValueBuilder& builder, Value* x, Value* y) {
  llvm::IRBuilder<>& ir = builder.ir();
  Value *ac = ir.CreateFMul(Re(builder, x), Re(builder, y)),
        *bd = ir.CreateFMul(Im(builder, x), Im(builder, y));
  Value *ad = ir.CreateFMul(Re(builder, x), Im(builder, y)),
        *bc = ir.CreateFMul(Im(builder, x), Re(builder, y));
  return Pair(builder, ir.CreateFSub(ac, bd), ir.CreateFAdd(ad, bc));
}

}  // namespace assay
