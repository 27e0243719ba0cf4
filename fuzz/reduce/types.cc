// Plainer element types: s32 for integers and, where the failure allows, for other numbers; f32 for
// those; and truth values where that saves a constant.
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/choices.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/links/equivalence.h"
#include "fuzz/reduce/reduction.h"

namespace assay {
namespace {

// Of a complex number the real part.
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

// What counts up becomes an array of one scalar of its type and computation, as no truth values
// count up. False if there is no such scalar.
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

// The truth values that are constant in a computation become `parameter`, which is one; false if
// there are none.
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

// The classes of types that truth values might do for.
std::set<int64_t> TruthClasses(const Module& module, const Equivalence& types) {
  std::set<int64_t> classes;
  for (const Computation* computation : module.computations()) {
    const bool may_be = computation != module.entry() && HasTruth(*computation);
    for (const Instruction* at : *computation) {
      if (at->opcode() == Opcode::kSelectAndScatter) classes.insert(types.ClassOf(at, 0));
      if (!may_be || at->opcode() != Opcode::kParameter) continue;
      for (size_t leaf = 0; leaf < ShapeLeaves(at->shape()).size(); ++leaf)
        classes.insert(types.ClassOf(at, static_cast<int64_t>(leaf)));
    }
  }
  return classes;
}

// What a comparator or a selector says without looking at its numbers, numbers that are truth
// values say themselves.
bool BecomesTruth(Reduction& reduction, const Equivalence& types, int64_t number) {
  std::vector<const Instruction*> parameters;  // of called computations
  std::vector<const Instruction*> iotas;
  for (const auto& [at, leaf, dimension] : types.MembersOf(number)) {
    if (at->opcode() == Opcode::kIota) iotas.push_back(at);
    if (at->opcode() != Opcode::kParameter) continue;
    const bool is_called = at->parent() != reduction.best().module->entry();
    if (is_called && HasTruth(*at->parent())) parameters.push_back(at);
  }
  for (const Instruction* parameter : parameters) {
    if (!reduction.Wants()) continue;
    ReduceCase c = WithType(reduction.best(), types, number, ElementType::kPred);
    for (const Instruction* iota : iotas) BroadcastInstead(Counterpart(*c.module, iota));
    if (ReadAsTruth(Counterpart(*c.module, parameter)) &&
        reduction.Try(std::move(c), "numbers that are truth values")) {
      return true;
    }
  }
  return false;
}

// Draws the truth values of the arrays that the entry begins with.
void DrawTruth(ReduceCase& reduce_case, uint64_t seed) {
  const auto draw = [seed](Literal& literal, uint64_t number) {
    if (!literal.shape().IsArray() || !IsPred(literal.element_type())) return;
    if (literal.element_count() < 2) return;
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      const uint64_t drawn = MixSeeds(seed, MixSeeds(number, static_cast<uint64_t>(i)));
      literal.SetInteger(i, static_cast<int64_t>(drawn >> 63));
    }
  };
  uint64_t number = 0;
  for (Literal& input : reduce_case.inputs) draw(input, ++number);
  for (Instruction* at : *reduce_case.module->entry()) {
    if (at->literal() == nullptr) continue;
    Literal literal = *at->literal();
    draw(literal, ++number);
    at->set_literal(std::make_shared<const Literal>(std::move(literal)));
  }
}

// Truth values are selected and combined by one computation, where numbers need two. Which of them
// a wrong choice shows on is another question than on which numbers, and asked of some that are
// drawn.
bool SelectsTruth(Reduction& reduction, const Equivalence& types, int64_t number) {
  const Instruction* at = nullptr;
  for (const auto& [member, leaf, dimension] : types.MembersOf(number)) {
    if (member->opcode() == Opcode::kSelectAndScatter) at = member;
  }
  if (at == nullptr) return false;
  constexpr uint64_t kDraws = 6;  // the first is what numbers become
  for (uint64_t draw = 0; draw < 2 * kDraws; ++draw) {
    if (!reduction.Wants()) continue;
    const Opcode opcode = draw % 2 == 0 ? Opcode::kOr : Opcode::kAnd;
    ReduceCase c = WithType(reduction.best(), types, number, ElementType::kPred);
    Computation* both = c.module->AddComputation("both");
    const Shape truth = Shape::Scalar(ElementType::kPred);
    Instruction* a = both->AddParameter(0, truth);
    Instruction* b = both->AddParameter(1, truth);
    both->set_root(both->Add(opcode, truth, {a, b}));
    Instruction* scatter = Counterpart(*c.module, at);
    for (int64_t k = 0; k < 2; ++k) scatter->set_callee(k, both);
    if (draw / 2 > 0) DrawTruth(c, draw / 2);
    if (reduction.Try(std::move(c), "truth values that are selected")) return true;
  }
  return false;
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

bool NumbersToTruth(Reduction& reduction) {
  bool changed = false;
  for (bool again = true; again && !reduction.Expired(); changed |= again) {
    const std::shared_ptr<const Equivalence> types = reduction.Links(LinkKind::kTypes);
    again = absl::c_any_of(TruthClasses(*reduction.best().module, *types), [&](int64_t number) {
      return TypeOf(*types, number) != ElementType::kInvalid &&
             (BecomesTruth(reduction, *types, number) || SelectsTruth(reduction, *types, number));
    });
  }
  return changed;
}

bool SimplifyTypes(Reduction& reduction) {
  bool changed = false;
  for (int64_t number = 0;; ++number) {
    const std::shared_ptr<const Equivalence> types = reduction.Links(LinkKind::kTypes);
    if (number >= types->class_count() || reduction.Expired()) return changed;
    const ElementType current = TypeOf(*types, number);
    if (current == ElementType::kInvalid) continue;
    for (ElementType type : {ElementType::kS32, ElementType::kF32}) {
      if (type == current || (type == ElementType::kF32 && IsInteger(current))) continue;
      if (!reduction.Wants()) continue;
      if (reduction.Try(WithType(reduction.best(), *types, number, type), "plainer type")) {
        changed = true;
        break;
      }
    }
  }
}

}  // namespace assay
