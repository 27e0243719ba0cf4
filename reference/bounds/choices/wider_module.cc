// Sets the types of a clone, and converts where values enter and leave it.
#include "reference/bounds/choices/wider_module.h"

#include <utility>
#include <vector>

#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay::reference {
namespace {

class Widening {
 public:
  Widening(Module& module, ExcessType wider)
      : module_(module),
        type_(wider == ExcessType::kSingle ? ElementType::kF32 : ElementType::kF16) {}

  // False if the program is to be left as it is.
  bool Run() {
    Computation& entry = *module_.entry();
    for (const Computation* computation : module_.computations())
      for (const Instruction* instruction : *computation)
        if (!IsPlain(*instruction)) return false;
    module_.clear_schedule();
    const Shape result = entry.root()->shape();
    std::vector<Instruction*> entering;
    std::vector<Stored> stored = StoredOperands();
    for (Computation* computation : module_.computations()) {
      for (Instruction* instruction : *computation) {
        const bool is_parameter =
            computation == &entry && instruction->opcode() == Opcode::kParameter;
        if (is_parameter && instruction->shape().IsTuple() && HasKept(instruction->shape()))
          return false;
        if ((is_parameter || RoundsOnce(*instruction)) && HasKept(instruction->shape())) {
          entering.push_back(instruction);
        } else {
          Widen(*instruction);
        }
      }
    }
    for (Instruction* instruction : entering) ReadWider(*instruction);
    for (Stored& operand : stored) {
      Computation& computation = *operand.user->parent();
      Instruction* narrow = computation.Add(Opcode::kConvert, std::move(operand.shape),
                                            {operand.user->operand(operand.number)});
      operand.user->ReplaceOperand(operand.number,
                                   computation.Add(Opcode::kConvert, operand.wide, {narrow}));
    }
    entry.set_root(Converted(entry.root(), result));
    return has_widened_ && Verify(module_).ok();
  }

 private:
  bool IsKept(ElementType type) const {
    const int limit = type_ == ElementType::kF32 ? 16 : 8;
    // The powers of f8e8m0fnu go beyond those of f16.
    const bool fits = type != ElementType::kF8E8M0FNU || type_ == ElementType::kF32;
    return IsFloat(type) && BitWidth(type) <= limit && fits;
  }

  bool HasKept(const Shape& shape) const {
    if (!shape.IsTuple()) return IsKept(shape.element_type());
    for (const Shape& element : shape.elements())
      if (HasKept(element)) return true;
    return false;
  }

  // True of values whose type may change: not of those that mean something else on another type, or
  // come from outside.
  bool IsPlain(const Instruction& instruction) const {
    switch (instruction.opcode()) {
      case Opcode::kBitcast:
      case Opcode::kBitcastConvert:
      case Opcode::kReducePrecision:
      case Opcode::kRng:
      case Opcode::kStochasticConvert:
        break;
      case Opcode::kCustomCall:
      case Opcode::kInfeed:
      case Opcode::kOutfeed:
      case Opcode::kRecv:
      case Opcode::kSend:
        return false;
      case Opcode::kCollectivePermute:
        // Who gets nothing has bits of zero, which are a number in f8e8m0fnu.
        return instruction.shape().IsTuple() || !IsKept(instruction.shape().element_type()) ||
               instruction.shape().element_type() != ElementType::kF8E8M0FNU;
      default:
        return true;
    }
    if (HasKept(instruction.shape())) return false;
    for (const Instruction* operand : instruction.operands())
      if (HasKept(operand->shape())) return false;
    return true;
  }

  void WidenShape(Shape& shape) {
    for (Shape& element : shape.mutable_elements()) WidenShape(element);
    if (shape.IsTuple() || !IsKept(shape.element_type())) return;
    shape.set_element_type(type_);
    has_widened_ = true;
  }

  void Widen(Instruction& instruction) {
    WidenShape(instruction.mutable_shape());
    const Literal* const literal = instruction.literal();
    if (literal == nullptr || literal->shape().IsTuple() ||
        !IsKept(literal->shape().element_type()))
      return;
    Literal wide(instruction.shape());
    for (int64_t i = 0; i < wide.element_count(); ++i) wide.SetDouble(i, literal->GetDouble(i));
    instruction.set_literal(std::make_shared<const Literal>(std::move(wide)));
  }

  // Rows are sorted as they are stored.
  struct Stored {
    Instruction* user;
    int64_t number;
    Shape shape, wide;
  };
  std::vector<Stored> StoredOperands() {
    std::vector<Stored> stored;
    for (Computation* computation : module_.computations()) {
      for (Instruction* instruction : *computation) {
        const Opcode opcode = instruction->opcode();
        if (opcode != Opcode::kSort && opcode != Opcode::kTopK) continue;
        for (int64_t k = 0; k < instruction->operand_count(); ++k) {
          const Shape& shape = instruction->operand(k)->shape();
          if (!HasKept(shape)) continue;
          Shape wide = shape;
          WidenShape(wide);
          stored.push_back({instruction, k, shape, std::move(wide)});
        }
      }
    }
    return stored;
  }

  // A conversion rounds once, from whatever type.
  bool RoundsOnce(const Instruction& instruction) const {
    if (instruction.opcode() != Opcode::kConvert) return false;
    const ElementType from = instruction.operand(0)->shape().element_type();
    return BitWidth(from) > 8 && from != type_ && !IsKept(from);
  }

  // The readers of the value, which keeps its type, read a conversion of it.
  void ReadWider(Instruction& value) {
    Shape shape = value.shape();
    WidenShape(shape);
    const std::vector<Instruction*> users(value.users().begin(), value.users().end());
    Computation& computation = *value.parent();
    Instruction* wide = computation.Add(Opcode::kConvert, std::move(shape), {&value});
    for (Instruction* user : users)
      for (int64_t k = 0; k < user->operand_count(); ++k)
        if (user->operand(k) == &value) user->ReplaceOperand(k, wide);
    if (computation.root() == &value) computation.set_root(wide);
  }

  // The value with the types of `shape`.
  Instruction* Converted(Instruction* value, const Shape& shape) {
    if (value->shape() == shape) return value;
    Computation& entry = *module_.entry();
    if (!shape.IsTuple()) return entry.Add(Opcode::kConvert, shape, {value});
    std::vector<Instruction*> elements;
    for (size_t k = 0; k < shape.elements().size(); ++k) {
      Instruction* element =
          entry.Add(Opcode::kGetTupleElement, value->shape().elements()[k], {value},
                    Attributes().Set(Attr::kIndex, static_cast<int64_t>(k)));
      elements.push_back(Converted(element, shape.elements()[k]));
    }
    return entry.Add(Opcode::kTuple, shape, elements);
  }

  Module& module_;
  ElementType type_;
  bool has_widened_ = false;
};

}  // namespace

std::unique_ptr<Module> KeepWider(const Module& module, ExcessType wider) {
  std::unique_ptr<Module> clone = module.Clone("");
  return Widening(*clone, wider).Run() ? std::move(clone) : nullptr;
}

}  // namespace assay::reference
