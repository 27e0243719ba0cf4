// Short names for the operations on floats that formulas are made of, as LLVM IR: formulas are read
// more often than IR.
#pragma once

#include "optimized/codegen/value_builder.h"

namespace assay {

// Floats of one type, one of them or a vector: `like` is one of the numbers.
class Lanes {
 public:
  Lanes(ValueBuilder& b, llvm::Value* like);

  llvm::IRBuilder<>& ir() { return ir_; }
  ValueBuilder& builder() { return b_; }
  int width() const { return width_; }
  llvm::Type* type() const { return type_; }
  llvm::Type* integer_type() const { return integer_; }  // as wide as the float

  llvm::Value* Of(double value) { return b_.Float(type_, value); }
  llvm::Value* Int(uint64_t value) { return b_.Int(integer_, value); }
  llvm::Value* Add(llvm::Value* x, llvm::Value* y) { return ir_.CreateFAdd(x, y); }
  llvm::Value* Sub(llvm::Value* x, llvm::Value* y) { return ir_.CreateFSub(x, y); }
  llvm::Value* Mul(llvm::Value* x, llvm::Value* y) { return ir_.CreateFMul(x, y); }
  llvm::Value* Div(llvm::Value* x, llvm::Value* y) { return ir_.CreateFDiv(x, y); }
  llvm::Value* MulAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    return b_.MultiplyAdd(x, y, z);
  }
  // coefficients[0] + x (coefficients[1] + ...)
  llvm::Value* Polynomial(llvm::Value* x, llvm::ArrayRef<double> coefficients);
  llvm::Value* Abs(llvm::Value* x) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  llvm::Value* WithSignOf(llvm::Value* magnitude, llvm::Value* sign) {
    return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
  }
  llvm::Value* Bits(llvm::Value* x) { return ir_.CreateBitCast(x, integer_); }
  llvm::Value* FromBits(llvm::Value* x) { return ir_.CreateBitCast(x, type_); }
  llvm::Value* Select(llvm::Value* condition, llvm::Value* x, llvm::Value* y) {
    return ir_.CreateSelect(condition, x, y);
  }

  // `result`; where `far`, what a function of the runtime gives for `x`. It is called, in a block
  // of its own, only if a lane needs it.
  llvm::Value* FromLibrary(const std::string& function, llvm::Value* far, llvm::Value* x,
                           llvm::Value* result);
  // Calls the runtime's function for lanes, "assay_lanes_" and its name. It finds the first
  // argument in memory, leaves the results there, and reads the second, if there is one.
  llvm::Value* CallLanes(const std::string& function, llvm::ArrayRef<llvm::Value*> arguments);

 private:
  ValueBuilder& b_;
  llvm::IRBuilder<>& ir_;
  int width_;
  llvm::Type *type_, *integer_;
};

}  // namespace assay
