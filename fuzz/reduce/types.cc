// Plainer element types: s32 for integers and, where the failure allows, for floats; f32 for other
// floats.
#include <cmath>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/equivalence.h"
#include "fuzz/reduce/reduction.h"

namespace assay {
namespace {

Literal Retype(const Literal& literal, ElementType type) {
  Shape shape = literal.shape();
  shape.set_element_type(type);
  Literal result(shape);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    bool from_float = IsFloat(literal.element_type());
    if (IsFloat(type)) {
      result.SetDouble(
          i, from_float ? literal.GetDouble(i) : static_cast<double>(literal.GetInteger(i)));
    } else if (from_float) {
      double value = literal.GetDouble(i);
      bool fits = std::abs(value) < 2147483648.0;  // false for NaN
      result.SetInteger(i, fits ? static_cast<int64_t>(value) : 0);
    } else {
      result.SetInteger(i, literal.GetInteger(i));
    }
  }
  return result;
}

ReduceCase WithType(const ReduceCase& best, const Equivalence& types, int64_t wanted,
                    ElementType type) {
  ReduceCase c = best.Clone();
  types.ForEach([&](const Instruction* at, int64_t leaf, int64_t, int64_t class_number) {
    if (class_number != wanted) return;
    Instruction* changed = Counterpart(*c.module, at);
    Shape* shape = MutableLeaves(changed->mutable_shape())[leaf];
    if (!shape->IsArray()) return;
    shape->set_element_type(type);
    if (changed->literal() != nullptr) {
      changed->set_literal(std::make_shared<const Literal>(Retype(*changed->literal(), type)));
    }
    if (at->opcode() == Opcode::kParameter && at->parent() == best.module->entry()) {
      Literal& input = c.inputs[at->parameter_number()];
      input = Retype(input, type);
    }
  });
  return c;
}

}  // namespace

bool SimplifyTypes(Reduction& reduction) {
  bool changed = false;
  for (int64_t number = 0;; ++number) {
    Equivalence types(*reduction.best().module, LinkKind::kTypes);
    if (number >= types.class_count() || reduction.Expired()) return changed;
    ElementType current = ElementType::kInvalid;
    bool tuple_leaf_constant = false;
    types.ForEach([&](const Instruction* at, int64_t leaf, int64_t, int64_t c) {
      if (c != number) return;
      current = ShapeLeaves(at->shape())[leaf]->element_type();
      tuple_leaf_constant |= at->literal() != nullptr && at->shape().IsTuple();
    });
    if (tuple_leaf_constant || !(IsInteger(current) || IsFloat(current))) continue;
    for (ElementType type : {ElementType::kS32, ElementType::kF32}) {
      if (type == current || (type == ElementType::kF32 && !IsFloat(current))) continue;
      if (reduction.Try(WithType(reduction.best(), types, number, type), "plainer type")) {
        changed = true;
        break;
      }
    }
  }
}

}  // namespace assay
