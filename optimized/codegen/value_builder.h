// Builds LLVM IR for values of HLO element types: one element, or a vector of consecutive ones
// (every function takes either). A value travels in its register type: pred i1, integers iN, f32
// float, f64 double; narrower floats travel as the integer of their code, so that moving them keeps
// every bit, and are widened to float for arithmetic and rounded back after each HLO op; a complex
// number travels as a struct of its parts, never as a vector. Documents: operation semantics 1.2
// to 1.5 (numbers), chapter 8 (conversions).
#pragma once

#include <functional>

#include "llvm/IR/IRBuilder.h"
#include "optimized/defects/bends.h"
#include "spec/types/element_type.h"
#include "spec/types/literal.h"

namespace assay {

class ValueBuilder {
 public:
  // `bends`: what a planted defect changes, read whenever code is emitted; it outlives the builder.
  explicit ValueBuilder(llvm::IRBuilder<>& ir, const KernelBends& bends = kNoBends)
      : ir_(ir), bends_(bends) {}
  llvm::IRBuilder<>& ir() { return ir_; }
  llvm::LLVMContext& context() { return ir_.getContext(); }

  // True for the element types that code is generated for.
  static bool Supports(ElementType type);

  llvm::Type* RegisterType(ElementType type, int width = 1);
  llvm::Type* StorageType(ElementType type, int width = 1);  // at least a byte per element
  // float for narrower floats, the register type otherwise.
  llvm::Type* ArithmeticType(ElementType type, int width = 1);

  // Between memory and register.
  llvm::Value* Load(ElementType type, llvm::Value* pointer, int width);
  void Store(ElementType type, llvm::Value* value, llvm::Value* pointer);
  // Element `i` of a literal as a constant; NaN payloads kept.
  llvm::Constant* ConstantElement(const Literal& literal, int64_t i);

  // Register to arithmetic and back; the way back rounds to nearest even.
  llvm::Value* Widen(ElementType type, llvm::Value* value);
  llvm::Value* Narrow(ElementType type, llvm::Value* value);

  // HLO convert between any two supported types: one rounding, saturating float to integer.
  llvm::Value* Convert(ElementType from, ElementType to, llvm::Value* value);

  // The element's bits as an integer of its storage width, and back.
  llvm::Value* ToBits(ElementType type, llvm::Value* value);
  llvm::Value* FromBits(ElementType type, llvm::Value* bits);

  // Constants of the shape (scalar or vector) of `like`.
  llvm::Constant* Int(llvm::Type* like, uint64_t value);
  llvm::Constant* Float(llvm::Type* like, double value);

  llvm::Value* Splat(llvm::Value* scalar, int width);
  // double to float so that a second rounding to a narrower type is harmless: truncated, last bit
  // set when inexact.
  llvm::Value* RoundToOdd(llvm::Value* wide);

  // x y + z of floats of f32 or f64, rounded once: by the machine's instruction, or, where it has
  // none, by several others that give the same bits.
  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z);

  const KernelBends& bends() const { return bends_; }

  // Says that the machine has a fused multiply-add.
  void set_use_fma(bool use) { use_fma_ = use; }
  bool use_fma() const { return use_fma_; }
  // Says that what is emitted runs too rarely for the formulas of functions to be worth their
  // translation.
  void set_is_rare(bool is_rare) { is_rare_ = is_rare; }
  bool is_rare() const { return is_rare_; }
  // True if functions of f64 are called rather than emitted; both give the same bits. Where a
  // defect is planted they are emitted: it is planted there.
  bool calls_functions() const { return (is_rare_ || !use_fma_) && bends_.planted == nullptr; }

  static int WidthOf(llvm::Value* value);
  static llvm::Type* WithWidth(llvm::Type* scalar, int width);

 private:
  // `of_lane` for each lane of a vector, or once for a scalar; it gives a `result`.
  llvm::Value* PerLane(llvm::Value* value, llvm::Type* result,
                       const std::function<llvm::Value*(llvm::Value*)>& of_lane);
  llvm::Value* ConvertComplex(ElementType from, ElementType to, llvm::Value* value);
  llvm::Value* IntegerToNarrow(ElementType from, ElementType to, llvm::Value* value);
  llvm::IRBuilder<>& ir_;
  const KernelBends& bends_;
  bool use_fma_ = false, is_rare_ = false;
};

}  // namespace assay
