#include "optimized/codegen/complex.h"

#include <array>
#include <string>

#include "absl/algorithm/container.h"
#include "optimized/codegen/math_functions.h"

namespace assay {

using llvm::ArrayRef;
using llvm::Value;

namespace {

// The parts of a complex value; a real one has none but itself.
Value* Re(ValueBuilder& b, Value* z) { return b.ir().CreateExtractValue(z, 0); }
Value* Im(ValueBuilder& b, Value* z) { return b.ir().CreateExtractValue(z, 1); }

Value* Pair(ValueBuilder& b, Value* re, Value* im) {
  Value* pair =
      llvm::PoisonValue::get(llvm::StructType::get(b.context(), {re->getType(), im->getType()}));
  return b.ir().CreateInsertValue(b.ir().CreateInsertValue(pair, re, 0), im, 1);
}

Value* Add(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return EmitComplexAdd(b, v[0], v[1]);
}
Value* Subtract(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return Pair(b, b.ir().CreateFSub(Re(b, v[0]), Re(b, v[1])),
              b.ir().CreateFSub(Im(b, v[0]), Im(b, v[1])));
}
Value* Multiply(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return EmitComplexMultiply(b, v[0], v[1]);
}
Value* Negate(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return Pair(b, b.ir().CreateFNeg(Re(b, v[0])), b.ir().CreateFNeg(Im(b, v[0])));
}

// Equal if both parts are.
Value* Compare(ValueBuilder& b, const Instruction& i, ArrayRef<Value*> v) {
  llvm::IRBuilder<>& ir = b.ir();
  Value* equal = ir.CreateAnd(ir.CreateFCmpOEQ(Re(b, v[0]), Re(b, v[1])),
                              ir.CreateFCmpOEQ(Im(b, v[0]), Im(b, v[1])));
  const auto written = static_cast<Direction>(i.attributes().Integer(Attr::kDirection));
  return b.Bend(written) == Direction::kEq ? equal : ir.CreateNot(equal);
}

Value* Select(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return b.ir().CreateSelect(v[0], v[1], v[2]);
}
Value* Convert(ValueBuilder& b, const Instruction& i, ArrayRef<Value*> v) {
  return b.Convert(i.operand(0)->shape().element_type(), i.shape().element_type(), v[0]);
}
Value* Real(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) { return Re(b, v[0]); }
Value* Imag(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) { return Im(b, v[0]); }
Value* Complex(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return Pair(b, v[0], v[1]);
}

// A function of the runtime, which takes and gives doubles and computes in a wider format than the
// values have (runtime/complex_functions.h).
Value* Call(ValueBuilder& b, const char* function, ArrayRef<Value*> operands, bool complex_result) {
  llvm::IRBuilder<>& ir = b.ir();
  llvm::Type* f64 = ir.getDoubleTy();
  llvm::Type* part = Re(b, operands[0])->getType();
  std::vector<Value*> arguments;
  for (Value* z : operands) {
    for (Value* x : {Re(b, z), Im(b, z)}) arguments.push_back(ir.CreateFPCast(x, f64));
  }
  llvm::Type* result =
      complex_result ? static_cast<llvm::Type*>(llvm::StructType::get(b.context(), {f64, f64}))
                     : f64;
  const std::string name = std::string("complex_") + function + (part == f64 ? "_c128" : "_c64");
  Value* value = CallPerLane(b, name.c_str(), result, arguments);
  if (!complex_result) return ir.CreateFPCast(value, part);
  return Pair(b, ir.CreateFPCast(Re(b, value), part), ir.CreateFPCast(Im(b, value), part));
}

Value* Abs(ValueBuilder& b, const Instruction&, ArrayRef<Value*> v) {
  return Call(b, "abs", v, false);
}

// The name of the runtime's function is that of the op.
Value* Function(ValueBuilder& b, const Instruction& i, ArrayRef<Value*> v) {
  std::string name(Name(i.opcode()));
  absl::c_replace(name, '-', '_');
  return Call(b, name.c_str(), v, true);
}

struct Row {
  Opcode opcode;
  ElementwiseFn emit;
};

constexpr Row kRows[] = {
    {Opcode::kAbs, Abs},
    {Opcode::kAdd, Add},
    {Opcode::kAtan2, Function},
    {Opcode::kCbrt, Function},
    {Opcode::kCompare, Compare},
    {Opcode::kComplex, Complex},
    {Opcode::kConvert, Convert},
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
    {Opcode::kSqrt, Function},
    {Opcode::kSubtract, Subtract},
    {Opcode::kTan, Function},
    {Opcode::kTanh, Function},
};

bool IsComplexArray(const Instruction* i) {
  return i->shape().IsArray() && IsComplex(i->shape().element_type());
}

}  // namespace

bool InvolvesComplex(const Instruction& instruction) {
  return IsComplexArray(&instruction) || absl::c_any_of(instruction.operands(), IsComplexArray);
}

ElementwiseFn FindComplexElementwise(Opcode opcode) {
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return row.emit;
  }
  return nullptr;
}

Value* EmitComplexAdd(ValueBuilder& b, Value* x, Value* y) {
  return Pair(b, b.ir().CreateFAdd(Re(b, x), Re(b, y)), b.ir().CreateFAdd(Im(b, x), Im(b, y)));
}

Value* EmitComplexMultiply(ValueBuilder& b, Value* x, Value* y) {
  llvm::IRBuilder<>& ir = b.ir();
  Value *ac = ir.CreateFMul(Re(b, x), Re(b, y)), *bd = ir.CreateFMul(Im(b, x), Im(b, y));
  Value *ad = ir.CreateFMul(Re(b, x), Im(b, y)), *bc = ir.CreateFMul(Im(b, x), Re(b, y));
  return Pair(b, ir.CreateFSub(ac, bd), ir.CreateFAdd(ad, bc));
}

}  // namespace assay
