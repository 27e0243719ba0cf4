// Steps about called computations.
#include <algorithm>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/reduction.h"
#include "spec/attributes/attribute_words.h"

namespace assay {
namespace {

// Replaces `call` by a copy of `callee` on `arguments`. The callee itself stays for other callers.
bool Inline(Instruction* call, const Computation* callee,
            absl::Span<Instruction* const> arguments) {
  if (callee->parameter_count() != static_cast<int64_t>(arguments.size())) return false;
  Instruction* root = call->parent()->CopyFrom(*callee, arguments);
  return Substitute(call, root);
}

// An array of one element, however the program runs.
bool HasOneElement(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDimension() && shape.ElementCount() == 1;
}

// The element of an array that has only one, as a scalar; null of others.
Instruction* OnlyElement(Instruction* array) {
  const Shape& shape = array->shape();
  if (!HasOneElement(shape)) return nullptr;
  if (shape.rank() == 0) return array;
  const bool is_moved =
      array->opcode() == Opcode::kBroadcast || array->opcode() == Opcode::kReshape;
  if (is_moved && array->operand(0)->shape().rank() == 0) return array->operand(0);
  return array->parent()->Add(Opcode::kReshape, Shape::Array(shape.element_type(), {}), {array});
}

// The value of `call`, which works on arrays of one element, by its computation on scalars.
bool InlineOnElements(Instruction* call) {
  if (!HasOneElement(call->shape())) return false;
  std::vector<Instruction*> arguments;
  for (Instruction* operand : call->operands()) {
    arguments.push_back(OnlyElement(operand));
    if (arguments.back() == nullptr) return false;
  }
  // The start of a reduction comes before what is reduced.
  if (call->opcode() == Opcode::kReduce) std::reverse(arguments.begin(), arguments.end());
  if (call->callee()->parameter_count() != static_cast<int64_t>(arguments.size())) return false;
  Instruction* value = call->parent()->CopyFrom(*call->callee(), arguments);
  if (call->shape().rank() > 0)
    value = call->parent()->Add(Opcode::kReshape, call->shape(), {value});
  return Substitute(call, value);
}

// The ways to put the body of what `call` calls in its place.
int64_t InlineForms(const Instruction* call) {
  switch (call->opcode()) {
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kWhile:
      return 1;
    case Opcode::kConditional:
      return static_cast<int64_t>(call->callees().size());
    default:
      return 0;
  }
}

bool InlineForm(Instruction* call, int64_t form) {
  switch (call->opcode()) {
    case Opcode::kConditional:
      return Inline(call, call->callee(form), call->operands().subspan(1 + form, 1));
    case Opcode::kWhile:
      return Inline(call, call->callee(1), call->operands());
    case Opcode::kMap:
    case Opcode::kReduce:
      return InlineOnElements(call);
    default:
      return Inline(call, call->callee(0), call->operands());
  }
}

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

// The program's result may change its shape, but no other computation's.
bool MayLoseElements(Instruction* loop) {
  const Computation* parent = loop->parent();
  ModuleConfig& config = loop->parent()->parent()->config();
  const bool is_root = loop == parent->root();
  if (!UsedByElementsOnly(loop) || (is_root && parent != parent->parent()->entry())) return false;
  if (is_root) {
    config.entry_layout.reset();
    config.input_output_alias.clear();
  }
  return true;
}

// What stands for an element of a loop's state that is gone, in the loop: zero, or the constant
// that it was before the first trip.
enum class Remnant : uint8_t { kZero, kFirst };

// Takes element `index` out of the state of `loop`; false if it is not in the plain form that this
// needs.
bool PruneElement(Instruction* loop, int64_t index, Remnant remnant = Remnant::kZero) {
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
  Instruction* instead = init->operand(index);
  const bool is_known = instead->opcode() == Opcode::kConstant;
  if (remnant == Remnant::kFirst && !is_known) return false;
  const auto within = [&](Computation* callee) -> Instruction* {
    return remnant == Remnant::kZero ? nullptr : callee->AddConstant(*instead->literal());
  };
  DropElement(condition->parameter(0), index, within(condition));
  body->set_root(TupleWithout(body->root(), index));
  DropElement(body->parameter(0), index, within(body));
  loop->ReplaceOperand(0, TupleWithout(init, index));
  DropElement(loop, index, instead);
  return true;
}

// Readers of element `index` of `loop` read `other` instead; false if there are none.
bool ReadInstead(Instruction* loop, int64_t index, int64_t other) {
  bool changed = false;
  for (Instruction* user : loop->users()) {
    if (user->opcode() != Opcode::kGetTupleElement || user->tuple_index() != index) continue;
    user->mutable_attributes().Set(Attr::kIndex, AttrValue(other));
    changed = true;
  }
  return changed;
}

// Element `index` of a loop's state becomes what element `from` is, of another type if nobody reads
// it; false if the loop is not in the plain form that this needs.
bool RepeatElement(Instruction* loop, int64_t index, int64_t from) {
  Module* module = loop->parent()->parent();
  Instruction *init = loop->operand(0), *result = loop->callee(1)->root();
  if (init->opcode() != Opcode::kTuple || result->opcode() != Opcode::kTuple) return false;
  if (!MayLoseElements(loop)) return false;
  std::vector<Shape> shapes = loop->shape().elements();
  const bool is_alike = Compatible(shapes[index], shapes[from]);
  shapes[index] = shapes[from];
  std::vector<Instruction*> values = {loop};
  for (Computation* callee : loop->callees()) {
    if (module->Callers(callee).size() > 1 || !UsedByElementsOnly(callee->parameter(0)))
      return false;
    values.push_back(callee->parameter(0));
  }
  for (Instruction* value : values) {
    if (ReadInstead(value, index, from) && !is_alike) return false;
    value->mutable_shape() = Shape::Tuple(shapes);
  }
  const auto repeated = [&](Instruction* tuple) {
    std::vector<Instruction*> operands(tuple->operands().begin(), tuple->operands().end());
    operands[index] = operands[from];
    return tuple->parent()->Add(Opcode::kTuple, Shape::Tuple(shapes), operands);
  };
  loop->callee(1)->set_root(repeated(result));
  loop->ReplaceOperand(0, repeated(init));
  return true;
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

// What element `index` of a loop's state is before the first trip; null where that is computed.
const Literal* StartOf(const ReduceCase& reduce_case, const Instruction* loop, int64_t index) {
  const Instruction* start = loop->operand(0)->operand(index);
  if (start->opcode() != Opcode::kParameter) return start->literal();
  const bool is_input = start->parent() == reduce_case.module->entry();
  return is_input ? &reduce_case.inputs[static_cast<size_t>(start->parameter_number())] : nullptr;
}

// The loop goes on as long as scalar `index` of its state is what it was at first, which needs no
// counter: once, if the body changes it. False if the loop is not in the form that this needs.
bool RunWhileUnchanged(ReduceCase& reduce_case, Instruction* loop, int64_t index) {
  if (loop->operand(0)->opcode() != Opcode::kTuple) return false;
  const Shape& element = loop->shape().elements()[index];
  const Literal* start = StartOf(reduce_case, loop, index);
  if (!element.IsArray() || element.rank() > 0 || start == nullptr) return false;
  Computation* condition = reduce_case.module->AddComputation("unchanged");
  Instruction* state = condition->AddParameter(0, loop->shape());
  Instruction* now = condition->Add(Opcode::kGetTupleElement, element, {state});
  now->mutable_attributes().Set(Attr::kIndex, AttrValue(index));
  Instruction* same = condition->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred),
                                     {now, condition->AddConstant(*start)});
  same->mutable_attributes().Set(Attr::kDirection, Direction::kEq);
  condition->set_root(same);
  loop->set_callee(0, condition);
  for (int64_t e = static_cast<int64_t>(loop->shape().elements().size()); e-- > 0;) {
    if (e != index && !PruneElement(loop, e)) return false;
  }
  return Untuple(loop);
}

// What branch number `b` of a conditional takes, and those that are the same computation: the
// selector, if it reads nothing (`element` is -1); else a tuple without that element, of which
// readers get zeros, or the only element itself.
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

// An element of `parameter` that `at` may read in place of what it computes: number `index`.
bool BecomeElement(Instruction* at, Instruction* parameter, int64_t index) {
  const auto is_it = [index](const Instruction* user) {
    return user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == index;
  };
  const auto found = std::find_if(parameter->users().begin(), parameter->users().end(), is_it);
  Instruction* element = nullptr;
  if (found != parameter->users().end()) {
    element = *found;
  } else {
    element = at->parent()->Add(Opcode::kGetTupleElement, at->shape(), {parameter});
    element->mutable_attributes().Set(Attr::kIndex, AttrValue(index));
  }
  return Substitute(at, element);
}

// Both take and give the same.
bool AreAlike(const Computation& a, const Computation& b) {
  if (a.parameter_count() != b.parameter_count()) return false;
  if (!Compatible(a.root()->shape(), b.root()->shape())) return false;
  for (int64_t i = 0; i < a.parameter_count(); ++i) {
    if (!Compatible(a.parameter(i)->shape(), b.parameter(i)->shape())) return false;
  }
  return true;
}

// Whoever calls `from` calls `to` instead.
void CallInstead(Computation* from, Computation* to) {
  for (Instruction* caller : from->parent()->Callers(from)) {
    for (size_t k = 0; k < caller->callees().size(); ++k) {
      if (caller->callee(k) == from) caller->set_callee(static_cast<int64_t>(k), to);
    }
  }
}

// Every call of `callee` becomes its body; false where another op than a call has it.
bool InlineAll(Computation* callee) {
  const std::vector<Instruction*> callers = callee->parent()->Callers(callee);
  for (Instruction* caller : callers) {
    if (caller->opcode() != Opcode::kCall && caller->opcode() != Opcode::kFusion) return false;
  }
  for (Instruction* caller : callers) {
    if (!InlineForm(caller, 0)) return false;
  }
  return !callers.empty();
}

// The arguments on which to look at callee number `c` of `call` alone: what the call passes where
// shapes agree, new inputs otherwise.
std::vector<Instruction*> ArgumentsFor(ReduceCase& reduce_case, Instruction* call, size_t c) {
  Computation* callee = call->callee(c);
  bool branch = call->opcode() == Opcode::kConditional;
  std::vector<Instruction*> arguments;
  for (int64_t i = 0; i < callee->parameter_count(); ++i) {
    const Shape& wanted = callee->parameter(i)->shape();
    int64_t operand = branch ? static_cast<int64_t>(c) + 1 : i;
    bool passed =
        operand < call->operand_count() && Compatible(call->operand(operand)->shape(), wanted);
    if (!passed && !wanted.IsArray()) return {};
    arguments.push_back(passed ? call->operand(operand)
                               : AddInput(reduce_case, Splat(wanted, i + 1)));
  }
  return arguments;
}

}  // namespace

bool LiftCallee(Reduction& reduction) {
  const Computation* entry = reduction.best().module->entry();
  for (const Instruction* at : entry->PostOrder()) {
    for (size_t k = 0; k < at->callees().size(); ++k) {
      if (!reduction.Wants()) continue;
      ReduceCase c = reduction.best().Clone();
      Instruction* call = Counterpart(*c.module, at);
      std::vector<Instruction*> arguments = ArgumentsFor(c, call, k);
      if (static_cast<int64_t>(arguments.size()) != call->callee(k)->parameter_count()) continue;
      c.module->config().entry_layout.reset();
      c.module->config().input_output_alias.clear();
      c.module->entry()->set_root(c.module->entry()->CopyFrom(*call->callee(k), arguments));
      if (reduction.Try(std::move(c), "lift a callee")) return true;
    }
  }
  return false;
}

bool RetargetElements(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    for (int64_t i = 0; k < reduction.best().module->computations().size(); ++i) {
      const Computation* computation = reduction.best().module->computations()[k];
      if (i >= computation->instruction_count() || reduction.Expired()) break;
      const Instruction* at = *std::next(computation->begin(), i);
      if (at->opcode() != Opcode::kGetTupleElement) continue;
      for (int64_t index = 0; index < at->tuple_index(); ++index) {
        if (!(at->operand(0)->shape().elements()[index] == at->shape())) continue;
        if (!reduction.Wants()) continue;
        ReduceCase c = reduction.best().Clone();
        Counterpart(*c.module, at)->mutable_attributes().Set(Attr::kIndex, AttrValue(index));
        if (reduction.Try(std::move(c), "retarget an element")) {
          changed = true;
          break;
        }
      }
    }
  }
  return changed;
}

bool InlineCalls(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    for (int64_t i = 0; k < reduction.best().module->computations().size();) {
      const Computation* computation = reduction.best().module->computations()[k];
      if (i >= computation->instruction_count()) break;
      const Instruction* at = *std::next(computation->begin(), i);
      const int64_t forms = InlineForms(at);  // `at` is gone once something was accepted
      bool accepted = false;
      for (int64_t form = 0; form < forms && !accepted; ++form) {
        if (!reduction.Wants()) continue;
        ReduceCase c = reduction.best().Clone();
        if (!InlineForm(Counterpart(*c.module, at), form)) continue;
        // The inlined body may be longer than the call, but a call is gone. Try's order counts
        // instructions first, so callees that are still called elsewhere are a loss.
        accepted = reduction.Try(std::move(c), "inline");
      }
      changed |= accepted;
      if (!accepted) ++i;
    }
  }
  return changed;
}

bool InlineSharedCallees(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size() && !reduction.Expired();) {
    const Computation* callee = reduction.best().module->computations()[k];
    bool accepted = false;
    if (reduction.best().module->Callers(callee).size() > 1 && reduction.Wants()) {
      ReduceCase c = reduction.best().Clone();
      accepted = InlineAll(Counterpart(*c.module, callee)) &&
                 reduction.Try(std::move(c), "inline all calls");
    }
    changed |= accepted;
    if (!accepted) ++k;
  }
  return changed;
}

bool MergeComputations(Reduction& reduction) {
  // A dump may have thousands of computations; of each only so many others are tried.
  constexpr int kMostOthers = 8;
  bool changed = false;
  const auto computations = [&] { return reduction.best().module->computations(); };
  for (size_t a = 0; a < computations().size(); ++a) {
    int others = 0;
    for (size_t b = 0; a < computations().size() && b < computations().size(); ++b) {
      const Computation* entry = reduction.best().module->entry();
      if (a == b || computations()[a] == entry || computations()[b] == entry) continue;
      if (!AreAlike(*computations()[a], *computations()[b])) continue;
      if (++others > kMostOthers || reduction.Expired()) break;
      if (!reduction.Wants()) continue;
      ReduceCase c = reduction.best().Clone();
      CallInstead(Counterpart(*c.module, computations()[a]),
                  Counterpart(*c.module, computations()[b]));
      changed |= reduction.Try(std::move(c), "call another computation");
    }
  }
  return changed;
}

bool ReadElements(Reduction& reduction) {
  bool changed = false;
  const auto computations = [&] { return reduction.best().module->computations(); };
  for (size_t k = 0; k < computations().size(); ++k) {
    for (int64_t i = 0; k < computations().size(); ++i) {
      const Computation* computation = computations()[k];
      if (i >= computation->instruction_count() || reduction.Expired()) break;
      const Instruction* at = *std::next(computation->begin(), i);
      if (IsLeaf(at) || at->opcode() == Opcode::kGetTupleElement || !at->shape().IsArray() ||
          computation->parameter_count() != 1 || !computation->parameter(0)->shape().IsTuple()) {
        continue;
      }
      const std::vector<Shape>& elements = computation->parameter(0)->shape().elements();
      for (size_t e = 0; e < elements.size(); ++e) {
        if (!Compatible(elements[e], at->shape()) || !reduction.Wants()) continue;
        ReduceCase c = reduction.best().Clone();
        Instruction* target = Counterpart(*c.module, at);
        Instruction* parameter = target->parent()->parameter(0);
        if (!BecomeElement(target, parameter, static_cast<int64_t>(e))) continue;
        if (!reduction.Try(std::move(c), "read an element instead")) continue;
        changed = true;
        break;
      }
    }
  }
  return changed;
}

bool PruneLoopState(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    const Computation* computation = reduction.best().module->computations()[k];
    for (int64_t i = 0; i < computation->instruction_count(); ++i) {
      const Instruction* at = *std::next(computation->begin(), i);
      if (at->opcode() != Opcode::kWhile || !at->shape().IsTuple()) continue;
      ReduceCase plain = reduction.best().Clone();
      if (Untuple(Counterpart(*plain.module, at)) &&
          reduction.Try(std::move(plain), "untuple a loop")) {
        return true;
      }
      for (int64_t e = static_cast<int64_t>(at->shape().elements().size()); e-- > 0;) {
        ReduceCase once = reduction.best().Clone();
        if (RunWhileUnchanged(once, Counterpart(*once.module, at), e) &&
            reduction.Try(std::move(once), "a loop without a counter")) {
          return true;
        }
        ReduceCase c = reduction.best().Clone();
        if (!PruneElement(Counterpart(*c.module, at), e)) continue;
        // The best case has changed under the iterators: the next round goes on.
        if (reduction.Try(std::move(c), "prune loop state")) return true;
        ReduceCase known = reduction.best().Clone();
        if (PruneElement(Counterpart(*known.module, at), e, Remnant::kFirst) &&
            reduction.Try(std::move(known), "prune what a loop does not change")) {
          return true;
        }
        // Another element of the tuple may show the same failure as the one that is the result, or
        // be as good as this one.
        for (int64_t other = static_cast<int64_t>(at->shape().elements().size()); other-- > 0;) {
          if (other == e) continue;
          ReduceCase repeated = reduction.best().Clone();
          if (RepeatElement(Counterpart(*repeated.module, at), e, other) &&
              reduction.Try(std::move(repeated), "repeat loop state")) {
            return true;
          }
          if (!(at->shape().elements()[other] == at->shape().elements()[e])) continue;
          ReduceCase redirected = reduction.best().Clone();
          Instruction* loop = Counterpart(*redirected.module, at);
          if (!ReadInstead(loop, e, other) || !PruneElement(loop, e)) continue;
          if (reduction.Try(std::move(redirected), "prune loop state and show another"))
            return true;
        }
      }
    }
  }
  return changed;
}

bool PruneBranches(Reduction& reduction) {
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    for (const Instruction* at : *reduction.best().module->computations()[k]) {
      if (at->opcode() != Opcode::kConditional) continue;
      for (int64_t b = 0; b + 1 < at->operand_count(); ++b) {
        const Shape& taken = at->operand(b + 1)->shape();
        const int64_t elements =
            taken.IsTuple() ? static_cast<int64_t>(taken.elements().size()) : 0;
        for (int64_t element = elements; element-- > -1;) {
          if (!reduction.Wants()) continue;
          ReduceCase c = reduction.best().Clone();
          if (!PruneBranch(Counterpart(*c.module, at), b, element)) continue;
          // The best case has changed under the iterators: the next round goes on.
          if (reduction.Try(std::move(c), "prune what a branch takes")) return true;
        }
      }
    }
  }
  return false;
}

bool SimplifyCallees(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    if (reduction.best().module->computations()[k] == reduction.best().module->entry()) continue;
    int64_t i = reduction.best().module->computations()[k]->instruction_count();
    while (i-- > 0 && k < reduction.best().module->computations().size()) {
      const Computation* computation = reduction.best().module->computations()[k];
      if (computation == reduction.best().module->entry()) break;
      i = std::min<int64_t>(i, computation->instruction_count() - 1);
      const Instruction* at = *std::next(computation->begin(), i);
      if (IsLeaf(at) || !at->shape().IsArray() || at->shape().ElementCount() > 4096) continue;
      for (int64_t value : {0, 1}) {
        if (!reduction.Wants()) continue;
        ReduceCase c = reduction.best().Clone();
        Instruction* target = Counterpart(*c.module, at);
        Instruction* splat = target->parent()->AddConstant(Splat(target->shape(), value));
        if (Substitute(target, splat) && reduction.Try(std::move(c), "constant in a callee")) {
          changed = true;
          break;
        }
      }
    }
  }
  return changed;
}

}  // namespace assay
