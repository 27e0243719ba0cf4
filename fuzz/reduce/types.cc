// Plainer element types: s32 for integers and, where the failure allows, for other numbers; f32 for
// those; and truth values where that saves a constant.
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/steps.h"

namespace assay {
namespace {

// A complex number counts as its real part.
double NumberAt(const Literal& literal, int64_t i) {
  if (IsComplex(literal.element_type())) return literal.GetComponent(2 * i);
  if (IsFloat(literal.element_type())) return literal.GetDouble(i);
  return static_cast<double>(literal.GetInteger(i));
}

Literal Retype(const Literal& literal, ElementType type) {
  Shape shape = literal.shape();
  shape.set_element_type(type);
  Literal result(shape);
  const bool was_integer = IsInteger(literal.element_type());
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const double value = NumberAt(literal, i);
    if (IsFloat(type)) {
      result.SetDouble(i, value);
    } else if (IsPred(type)) {
      result.SetInteger(i, value != 0);
    } else if (was_integer) {
      result.SetInteger(i, literal.GetInteger(i));
    } else {
      const bool fits = std::abs(value) < 2147483648.0;  // false for NaN
      result.SetInteger(i, fits ? static_cast<int64_t>(value) : 0);
    }
  }
  return result;
}

ReduceCase WithType(const ReduceCase& best, const Equivalence& types, int64_t wanted,
                    ElementType type) {
  ReduceCase c = best.Clone();
  const Counterparts counterparts(*c.module, *best.module);
  for (const auto& [at, leaf, dimension] : types.MembersOf(wanted)) {
    Instruction* changed = counterparts.Of(at);
    Shape* shape = MutableLeaves(changed->mutable_shape())[leaf];
    if (!shape->IsArray()) continue;
    shape->set_element_type(type);
    if (changed->literal() != nullptr) {
      changed->set_literal(std::make_shared<const Literal>(Retype(*changed->literal(), type)));
    }
    if (at->opcode() == Opcode::kParameter && at->parent() == best.module->entry()) {
      Literal& input = c.inputs[at->parameter_number()];
      input = Retype(input, type);
    }
  }
  return c;
}

// Puts an array of one scalar, of the same type and computation, in place of an iota: truth values
// cannot count up. False if there is no such scalar.
bool BroadcastInstead(Instruction* iota) {
  const Shape scalar = Shape::Scalar(iota->shape().element_type());
  for (Instruction* at : *iota->parent()) {
    if (!IsLeaf(at) || !Compatible(at->shape(), scalar)) continue;
    Instruction* splat = iota->parent()->Add(Opcode::kBroadcast, iota->shape(), {at});
    splat->mutable_attributes().Set(Attr::kDimensions, AttrValue(std::vector<int64_t>()));
    return Substitute(iota, splat);
  }
  return false;
}

// Puts `parameter`, a truth value, in place of the constant truth values of its computation; false
// if there are none.
bool ReadAsTruth(Instruction* parameter) {
  const std::vector<Instruction*> all(parameter->parent()->begin(), parameter->parent()->end());
  bool changed = false;
  for (Instruction* at : all) {
    if (at->opcode() == Opcode::kConstant && Compatible(at->shape(), parameter->shape()))
      changed |= Substitute(at, parameter);
  }
  return changed;
}

// True if a truth value is constant there.
bool HasTruth(const Computation& computation) {
  return absl::c_any_of(computation, [](const Instruction* at) {
    return at->opcode() == Opcode::kConstant && at->shape().IsArray() &&
           IsPred(at->shape().element_type());
  });
}

// A comparator or a selector may give a constant, whatever the numbers are. If they become truth
// values, `parameter` can be given instead.
std::optional<ReduceCase> WithTruth(const ReduceCase& best, const Equivalence& types,
                                    const Instruction* parameter) {
  const int64_t number = types.ClassOf(parameter, 0);
  ReduceCase c = WithType(best, types, number, ElementType::kPred);
  for (const auto& [member, leaf, dimension] : types.MembersOf(number)) {
    if (member->opcode() == Opcode::kIota) BroadcastInstead(Counterpart(*c.module, member));
  }
  if (!ReadAsTruth(Counterpart(*c.module, parameter))) return std::nullopt;
  return c;
}

// The element type of a class of leaves; kInvalid where it cannot be changed.
ElementType TypeOf(const Equivalence& types, int64_t number) {
  ElementType current = ElementType::kInvalid;
  bool is_in_tuple = false;  // of a constant
  for (const auto& [at, leaf, dimension] : types.MembersOf(number)) {
    current = ShapeLeaves(at->shape())[leaf]->element_type();
    is_in_tuple |= at->literal() != nullptr && at->shape().IsTuple();
  }
  const bool is_number = IsInteger(current) || IsFloat(current) || IsComplex(current);
  return is_number && !is_in_tuple ? current : ElementType::kInvalid;
}

}  // namespace

void NumbersToTruth(Candidates& to) {
  const Equivalence& types = to.Links(LinkKind::kTypes);
  for (const Computation* computation : to.module().computations()) {
    if (computation == &to.entry() || !HasTruth(*computation)) continue;
    for (const Instruction* parameter : computation->parameters()) {
      if (!parameter->shape().IsArray()) continue;
      if (TypeOf(types, types.ClassOf(parameter, 0)) == ElementType::kInvalid) continue;
      to.Offer([&] { return WithTruth(to.best(), types, parameter); });
    }
  }
}

void SimplifyTypes(Candidates& to) {
  const Equivalence& types = to.Links(LinkKind::kTypes);
  for (int64_t number = 0; number < types.class_count(); ++number) {
    const ElementType current = TypeOf(types, number);
    if (current == ElementType::kInvalid) continue;
    for (ElementType type : {ElementType::kS32, ElementType::kF32}) {
      if (type == current || (type == ElementType::kF32 && IsInteger(current))) continue;
      to.Offer([&] { return std::optional(WithType(to.best(), types, number, type)); });
    }
  }
}

}  // namespace assay
