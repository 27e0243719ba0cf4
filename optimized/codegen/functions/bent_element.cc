// Emits the tests of elements by kind, and the values that come in their place.
#include "optimized/codegen/functions/bent_element.h"

#include <limits>
#include <string>

#include "optimized/defects/defect.h"
#include "optimized/gates/claim_names.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

using llvm::Value;

// The defect, if it sits at the kernels' code for the opcode of `instruction` with that operator.
const Defect* DefectAt(const KernelBends& bends, const Instruction& instruction,
                       std::string_view op) {
  const Defect* defect = bends.planted;
  const bool here = defect != nullptr && defect->op == op &&
                    ClaimOf(defect->gate) == Name(instruction.opcode()) &&
                    defect->GuardHolds(&instruction);
  return here ? defect : nullptr;
}

bool HasSign(ElementType type) {
  return IsFloat(type) && Format(type).special != SpecialValues::kExponent;
}

// True, as code, where a float is of the kind; nullptr if there is no such kind.
Value* FloatOfKind(ValueBuilder& builder, ElementType type, Value* operand, const std::string& when,
                   double number) {
  llvm::IRBuilder<>& ir = builder.ir();
  Value* x = builder.Widen(type, operand);
  llvm::Type* t = x->getType();
  Value* zero = builder.Float(t, 0);
  Value* size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  if (when == "nan") return ir.CreateFCmpUNO(x, x);
  if (when == "infinite") {
    return ir.CreateFCmpOEQ(size, builder.Float(t, std::numeric_limits<double>::infinity()));
  }
  if (when == "negative") return ir.CreateFCmpOLT(x, zero);
  if (when == "at-least") return ir.CreateFCmpOGE(x, builder.Float(t, number));
  if (when == "equals") return ir.CreateFCmpOEQ(x, builder.Float(t, number));
  if (when == "halfway") {
    Value* part = ir.CreateFSub(size, ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, size));
    return ir.CreateFCmpOEQ(part, builder.Float(t, 0.5));
  }
  if (when == "subnormal") {
    return ir.CreateAnd(ir.CreateFCmpOGT(size, zero),
                        ir.CreateFCmpOLT(size, builder.Float(t, Format(type).MinNormal())));
  }
  if (!HasSign(type) || (when != "zero" && when != "negative-zero")) return nullptr;
  Value* bits = builder.ToBits(type, operand);
  const uint64_t sign = uint64_t{1} << (BitWidth(type) - 1);
  return ir.CreateICmpEQ(bits, builder.Int(bits->getType(), when == "zero" ? 0 : sign));
}

Value* IntegerOfKind(ValueBuilder& builder, ElementType type, Value* x, const std::string& when,
                     int64_t number) {
  llvm::IRBuilder<>& ir = builder.ir();
  llvm::Type* t = x->getType();
  const auto bits = static_cast<int>(t->getScalarSizeInBits());
  const uint64_t top = uint64_t{1} << (bits - 1);
  const auto is = [&](uint64_t value) { return ir.CreateICmpEQ(x, builder.Int(t, value)); };
  if (when == "zero") return is(0);
  if (when == "equals") return is(static_cast<uint64_t>(number));
  if (when == "smallest") return is(IsSigned(type) ? top : 0);
  if (when == "largest") return is(IsSigned(type) ? top - 1 : ~uint64_t{0});
  if (when == "odd") return ir.CreateICmpNE(ir.CreateAnd(x, builder.Int(t, 1)), builder.Int(t, 0));
  if (when == "negative" && IsSigned(type)) return ir.CreateICmpSLT(x, builder.Int(t, 0));
  if (when != "at-least") return nullptr;
  Value* least = builder.Int(t, static_cast<uint64_t>(number));
  return IsSigned(type) ? ir.CreateICmpSGE(x, least) : ir.CreateICmpUGE(x, least);
}

// Returns the value that the defect puts in place of an element; nullptr if the type has no such
// value.
Value* Becomes(ValueBuilder& builder, const Defect& defect, ElementType type,
               llvm::ArrayRef<Value*> operands, Value* value) {
  llvm::IRBuilder<>& ir = builder.ir();
  const std::string becomes = defect.Text("becomes", "next");
  llvm::Type* t = value->getType();
  if (becomes == "operand") {
    const auto from = static_cast<size_t>(defect.Integer("from", 0));
    const bool fits = from < operands.size() && operands[from]->getType() == t;
    return fits ? operands[from] : nullptr;
  }
  if (becomes == "zero") return llvm::Constant::getNullValue(t);
  Value* bits = builder.ToBits(type, value);
  if (becomes == "next") {
    return builder.FromBits(type, ir.CreateAdd(bits, builder.Int(bits->getType(), 1)));
  }
  if (becomes == "one" || becomes == "nan") {
    if (!IsFloat(type)) return becomes == "one" ? builder.Int(t, 1) : nullptr;
    llvm::Type* wide = builder.Widen(type, value)->getType();
    const double number = becomes == "one" ? 1.0 : std::numeric_limits<double>::quiet_NaN();
    return builder.Narrow(type, builder.Float(wide, number));
  }
  if (becomes == "negate" && HasSign(type)) {
    const uint64_t sign = uint64_t{1} << (BitWidth(type) - 1);
    return builder.FromBits(type, ir.CreateXor(bits, builder.Int(bits->getType(), sign)));
  }
  return becomes == "negate" && !IsFloat(type) ? ir.CreateNeg(value) : nullptr;
}

}  // namespace

Value* BentElement(ValueBuilder& builder, const Instruction& instruction,
                   llvm::ArrayRef<Value*> operands, Value* value) {
  const Defect* defect = DefectAt(builder.bends(), instruction, "element-value");
  const ElementType type = instruction.shape().element_type();
  if (defect == nullptr || IsComplex(type)) return value;
  const auto tested = static_cast<size_t>(defect->Integer("operand", 0));
  if (tested >= operands.size()) return value;
  Value* other = Becomes(builder, *defect, type, operands, value);
  const std::string when = defect->Text("when", "always");
  if (other == nullptr || when == "always") return other == nullptr ? value : other;
  const ElementType of = instruction.operand(static_cast<int64_t>(tested))->shape().element_type();
  const int64_t number = defect->Integer("number", 0);
  if (IsComplex(of)) return value;
  Value* holds = IsFloat(of)
                     ? FloatOfKind(builder, of, operands[tested], when, static_cast<double>(number))
                     : IntegerOfKind(builder, of, operands[tested], when, number);
  return holds == nullptr ? value : builder.ir().CreateSelect(holds, other, value);
}

ElementIndex BentIndex(ElementEmitter& emitter, const Instruction& instruction,
                       const ElementIndex& index) {
  const Defect* defect = DefectAt(emitter.builder().bends(), instruction, "element-index");
  if (defect == nullptr || index.linear != nullptr || !instruction.shape().IsArray()) return index;
  const int64_t dim = defect->Integer("dim", 0);
  if (dim >= static_cast<int64_t>(index.dims.size()) || dim >= instruction.shape().rank() ||
      (index.width > 1 && dim == index.lane_dim)) {
    return index;
  }
  const int64_t size = instruction.shape().dimension(dim);
  if (size < 2) return index;
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  const std::string where = defect->Text("where", "last");
  ElementIndex bent = index;
  Value*& at = bent.dims[dim];
  Value* is_last = ir.CreateICmpEQ(at, emitter.Index(size - 1));
  if (where == "last") {
    at = ir.CreateSelect(is_last, emitter.Index(size - 2), at);
  } else if (where == "first") {
    at = ir.CreateSelect(ir.CreateICmpEQ(at, emitter.Index(0)), emitter.Index(1), at);
  } else if (where == "all") {
    at = ir.CreateSelect(is_last, emitter.Index(0), ir.CreateAdd(at, emitter.Index(1)));
  }
  return bent;
}

}  // namespace assay
