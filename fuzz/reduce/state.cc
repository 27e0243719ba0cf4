// Steps about the elements of tuples that loops carry and branches take.
#include <algorithm>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/steps.h"
#include "spec/attributes/attribute_words.h"

namespace assay {
namespace {

bool UsedByElementsOnly(const Instruction* value) {
  return std::all_of(value->users().begin(), value->users().end(), [](const Instruction* user) {
    return user->opcode() == Opcode::kGetTupleElement;
  });
}

Shape WithoutElement(const Shape& tuple, int64_t index) {
  std::vector<Shape> elements = tuple.elements();
  elements.erase(elements.begin() + index);
  return Shape::Tuple(std::move(elements));
}

// Takes element `index` out of a tuple-shaped `value` whose users read elements: readers of it get
// `instead` (a zero when null).
void DropElement(Instruction* value, int64_t index, Instruction* instead) {
  value->mutable_shape() = WithoutElement(value->shape(), index);
  std::vector<Instruction*> users(value->users().begin(), value->users().end());
  for (Instruction* user : users) {
    int64_t at = user->tuple_index();
    if (at > index) user->mutable_attributes().Set(Attr::kIndex, AttrValue(at - 1));
    if (at != index) continue;
    Instruction* zero =
        instead != nullptr ? instead : user->parent()->AddConstant(Splat(user->shape(), 0));
    user->ReplaceAllUsesWith(zero);
    user->parent()->Remove(user);
  }
}

Instruction* TupleWithout(Instruction* tuple, int64_t index) {
  std::vector<Instruction*> operands(tuple->operands().begin(), tuple->operands().end());
  operands.erase(operands.begin() + index);
  return tuple->parent()->Add(Opcode::kTuple, WithoutElement(tuple->shape(), index), operands);
}

// A value that was a tuple of one element is the element itself.
void ReadWhole(Instruction* value, const Shape& element) {
  value->mutable_shape() = element;
  std::vector<Instruction*> readers(value->users().begin(), value->users().end());
  for (Instruction* reader : readers) {
    if (reader->opcode() != Opcode::kGetTupleElement) continue;
    reader->ReplaceAllUsesWith(value);
    reader->parent()->Remove(reader);
  }
}

// The program's result may change its shape, but no other computation's.
bool MayLoseElements(Instruction* loop) {
  const Computation* parent = loop->parent();
  const bool is_root = loop == parent->root();
  if (!UsedByElementsOnly(loop) || (is_root && parent != parent->parent()->entry())) return false;
  if (is_root) ForgetResultLayout(*loop->parent()->parent());
  return true;
}

// Takes element `index` out of the state of `loop`; false if it is not in the plain form that this
// needs.
bool PruneElement(Instruction* loop, int64_t index) {
  Module* module = loop->parent()->parent();
  if (!loop->shape().IsTuple() || !loop->shape().elements()[index].IsArray()) return false;
  for (int i = 0; i < 2; ++i) {
    Computation* callee = loop->callee(i);
    if (module->Callers(callee).size() > 1) loop->set_callee(i, module->CloneComputation(*callee));
  }
  Computation *condition = loop->callee(0), *body = loop->callee(1);
  Instruction* init = loop->operand(0);
  if (init->opcode() != Opcode::kTuple || body->root()->opcode() != Opcode::kTuple) return false;
  for (const Instruction* value : {condition->parameter(0), body->parameter(0)}) {
    if (value == nullptr || !UsedByElementsOnly(value)) return false;
  }
  if (!MayLoseElements(loop)) return false;
  Instruction* start = init->operand(index);
  DropElement(condition->parameter(0), index, nullptr);
  body->set_root(TupleWithout(body->root(), index));
  DropElement(body->parameter(0), index, nullptr);
  loop->ReplaceOperand(0, TupleWithout(init, index));
  DropElement(loop, index, start);
  return true;
}

// A loop whose state is a tuple of one element carries the element itself.
bool Untuple(Instruction* loop) {
  if (!loop->shape().IsTuple() || loop->shape().elements().size() != 1) return false;
  const Shape element = loop->shape().elements()[0];
  Module* module = loop->parent()->parent();
  Instruction* init = loop->operand(0);
  Instruction* result = loop->callee(1)->root();
  if (init->opcode() != Opcode::kTuple || result->opcode() != Opcode::kTuple) return false;
  if (!MayLoseElements(loop)) return false;
  for (Computation* callee : loop->callees()) {
    if (module->Callers(callee).size() > 1 || !UsedByElementsOnly(callee->parameter(0)))
      return false;
  }
  std::vector<Instruction*> values = {loop};
  for (Computation* callee : loop->callees()) values.push_back(callee->parameter(0));
  loop->callee(1)->set_root(result->operand(0));
  loop->ReplaceOperand(0, init->operand(0));
  for (Instruction* value : values) ReadWhole(value, element);
  return true;
}

// Gives less to branch number `b` of a conditional, and to those that are the same computation. If
// it reads nothing, it takes the selector (`element` is -1). Else it takes the tuple without that
// element, of which readers get zeros, or the only element itself.
bool PruneBranch(Instruction* conditional, int64_t b, int64_t element) {
  Module* module = conditional->parent()->parent();
  const absl::Span<Computation* const> all = conditional->callees();
  Computation* branch = conditional->callee(b);
  std::vector<int64_t> operands;  // that are given to the computation
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k] == branch) operands.push_back(static_cast<int64_t>(k) + 1);
  }
  const std::vector<Instruction*> callers = module->Callers(branch);
  const auto is_this = [conditional](const Instruction* caller) { return caller == conditional; };
  if (!std::all_of(callers.begin(), callers.end(), is_this)) {
    conditional->set_callee(b, branch = module->CloneComputation(*branch));
    operands = {b + 1};
  }
  Instruction* parameter = branch->parameter(0);
  if (parameter == branch->root()) return false;
  if (element < 0) {
    if (!parameter->users().empty()) return false;
    parameter->mutable_shape() = conditional->operand(0)->shape();
    for (int64_t k : operands) conditional->ReplaceOperand(k, conditional->operand(0));
    return true;
  }
  if (!UsedByElementsOnly(parameter)) return false;
  for (int64_t k : operands) {
    const Instruction* taken = conditional->operand(k);
    if (taken->opcode() != Opcode::kTuple || !taken->operand(element)->shape().IsArray())
      return false;
  }
  const bool is_only = conditional->operand(b + 1)->operand_count() == 1;
  if (is_only) {
    ReadWhole(parameter, conditional->operand(b + 1)->operand(0)->shape());
  } else {
    DropElement(parameter, element, nullptr);
  }
  for (int64_t k : operands) {
    Instruction* taken = conditional->operand(k);
    conditional->ReplaceOperand(k, is_only ? taken->operand(0) : TupleWithout(taken, element));
  }
  return true;
}

// Readers of `element` read an earlier element of the same tuple instead.
bool BecomeEarlier(Instruction* element, int64_t index) {
  for (Instruction* user : element->operand(0)->users()) {
    if (user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == index)
      return Substitute(element, user);
  }
  element->mutable_attributes().Set(Attr::kIndex, AttrValue(index));
  return true;
}

}  // namespace

void PruneLoopState(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    if (at->opcode() != Opcode::kWhile || !at->shape().IsTuple()) continue;
    to.Offer(at, [](ReduceCase&, Instruction* loop) { return Untuple(loop); });
    for (auto e = static_cast<int64_t>(at->shape().elements().size()); e-- > 0;)
      to.Offer(at, [e](ReduceCase&, Instruction* loop) { return PruneElement(loop, e); });
  }
}

void PruneBranches(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    if (at->opcode() != Opcode::kConditional) continue;
    for (int64_t b = 0; b + 1 < at->operand_count(); ++b) {
      const Shape& taken = at->operand(b + 1)->shape();
      const int64_t elements = taken.IsTuple() ? static_cast<int64_t>(taken.elements().size()) : 0;
      for (int64_t element = elements; element-- > -1;) {
        to.Offer(at, [b, element](ReduceCase&, Instruction* conditional) {
          return PruneBranch(conditional, b, element);
        });
      }
    }
  }
}

void ReadElements(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    if (at->opcode() != Opcode::kGetTupleElement) continue;
    const std::vector<Shape>& elements = at->operand(0)->shape().elements();
    for (int64_t e = 0; e < at->tuple_index(); ++e) {
      if (!(elements[e] == at->shape())) continue;
      to.Offer(at, [e](ReduceCase&, Instruction* element) { return BecomeEarlier(element, e); });
    }
  }
}

}  // namespace assay
